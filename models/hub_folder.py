"""A GPT-2 model as a folder in the format of the Hugging Face hub: config.json and model.safetensors."""

import json
import math

import numpy as np


def config(layers, heads, width, vocabulary, positions, **more):
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_layer": layers, "n_head": heads, "n_embd": width,
            "n_positions": positions, "n_ctx": positions, "n_inner": None, "vocab_size": vocabulary,
            "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "scale_attn_weights": True,
            "tie_word_embeddings": True, **more}


def shapes(config):
    """Name and shape of every tensor, as the hub's gpt2 has them (linear layers as [in, out])."""
    d, inner = config["n_embd"], config["n_inner"] or 4 * config["n_embd"]
    found = {"wte.weight": (config["vocab_size"], d), "wpe.weight": (config["n_positions"], d)}
    for layer in range(config["n_layer"]):
        found |= {f"h.{layer}.{name}": shape for name, shape in {
            "ln_1.weight": (d,), "ln_1.bias": (d,),
            "attn.c_attn.weight": (d, 3 * d), "attn.c_attn.bias": (3 * d,),
            "attn.c_proj.weight": (d, d), "attn.c_proj.bias": (d,),
            "ln_2.weight": (d,), "ln_2.bias": (d,),
            "mlp.c_fc.weight": (d, inner), "mlp.c_fc.bias": (inner,),
            "mlp.c_proj.weight": (inner, d), "mlp.c_proj.bias": (d,)}.items()}
    return found | {"ln_f.weight": (d,), "ln_f.bias": (d,)}


def write(folder, config, tensors):
    """Tensors by name, float32; `tensors` may be a function of (name, shape), called one at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes(config).items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes(config).items():
            tensor = np.ascontiguousarray(tensors(name, shape) if callable(tensors) else tensors[name], dtype="<f4")
            assert tensor.shape == shape, (name, tensor.shape, shape)
            out.write(tensor.tobytes())
