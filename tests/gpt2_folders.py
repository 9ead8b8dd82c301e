"""Random GPT-2s as folders of the hub. Weights come from numpy's legacy generator, so that they are the same
everywhere: fixtures keep outputs only."""

import json
import pathlib

import numpy as np

# Names follow the hub; what a configuration does not say has the hub's default.
CONFIGURATIONS = {
    "plain": dict(n_layer=3, n_head=4, n_embd=32, n_positions=24, vocab_size=61),
    "untied_gelu": dict(n_layer=2, n_head=2, n_embd=24, n_positions=24, vocab_size=50, tie_word_embeddings=False,
                        activation_function="gelu"),
    "relu_inner": dict(n_layer=2, n_head=3, n_embd=48, n_positions=24, vocab_size=40, n_inner=70,
                       activation_function="relu", layer_norm_epsilon=1e-3),
    "unscaled": dict(n_layer=4, n_head=1, n_embd=16, n_positions=24, vocab_size=33, scale_attn_weights=False),
    "by_layer": dict(n_layer=3, n_head=2, n_embd=32, n_positions=24, vocab_size=45,
                     scale_attn_by_inverse_layer_idx=True),
}
DEFAULTS = dict(model_type="gpt2", activation_function="gelu_new", layer_norm_epsilon=1e-5,
                tie_word_embeddings=True, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)


def config_of(name):
    return {**DEFAULTS, **CONFIGURATIONS[name]}


def weights_of(config, seed=0, size=0.3):
    random = np.random.RandomState(seed)
    d, inner = config["n_embd"], config.get("n_inner") or 4 * config["n_embd"]
    shapes = {"wte.weight": (config["vocab_size"], d), "wpe.weight": (config["n_positions"], d)}
    for layer in range(config["n_layer"]):
        h = f"h.{layer}."
        shapes |= {h + "ln_1.weight": (d,), h + "ln_1.bias": (d,), h + "attn.c_attn.weight": (d, 3 * d),
                   h + "attn.c_attn.bias": (3 * d,), h + "attn.c_proj.weight": (d, d),
                   h + "attn.c_proj.bias": (d,), h + "ln_2.weight": (d,), h + "ln_2.bias": (d,),
                   h + "mlp.c_fc.weight": (d, inner), h + "mlp.c_fc.bias": (inner,),
                   h + "mlp.c_proj.weight": (inner, d), h + "mlp.c_proj.bias": (d,)}
    shapes |= {"ln_f.weight": (d,), "ln_f.bias": (d,)}
    if not config.get("tie_word_embeddings", True):
        shapes["lm_head.weight"] = (config["vocab_size"], d)
    weights = {}
    for name, shape in shapes.items():
        values = random.uniform(-size, size, shape)
        if "ln_" in name and name.endswith("weight"):
            values += 1
        weights[name] = values.astype(np.float32)
    return weights


def prompts_of(config, count=6, seed=1):
    random = np.random.RandomState(seed)
    return [random.randint(0, config["vocab_size"], length).tolist()
            for length in random.randint(1, config["n_positions"] + 1, count)]


def prefixed(weights):
    """As a whole model saves them."""
    return {name if name == "lm_head.weight" else "transformer." + name: value for name, value in weights.items()}


def write_safetensors(path, weights, dtype="F32"):
    header, data, offset = {}, [], 0
    for name, value in weights.items():
        if dtype == "F16":
            raw = value.astype(np.float16).tobytes()
        elif dtype == "BF16":
            raw = (value.view(np.uint32) >> 16).astype(np.uint16).tobytes()
        else:
            raw = value.tobytes()
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [offset, offset + len(raw)]}
        offset += len(raw)
        data.append(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data))


def write_folder(folder, config, weights, dtype="F32", shards=1):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    if shards == 1:
        write_safetensors(folder / "model.safetensors", weights, dtype)
        return folder
    where = {}
    for k in range(shards):
        name = f"model-{k + 1:05}-of-{shards:05}.safetensors"
        part = {key: value for j, (key, value) in enumerate(weights.items()) if j % shards == k}
        write_safetensors(folder / name, part, dtype)
        where |= dict.fromkeys(part, name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    return folder
