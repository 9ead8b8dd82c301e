"""GPT-2 in torch, small and open: the outputs z of every head can be seen and replaced. Tensor names are the hub's."""

import math

import torch
from torch.nn import functional as F

import hub_folder


class TinyGpt2(torch.nn.Module):
    def __init__(self, config, use_mlp=True):
        super().__init__()
        self.config, self.use_mlp = config, use_mlp
        self.tensors = torch.nn.ParameterDict()
        d, layers = config["n_embd"], config["n_layer"]
        scale = {"wte.weight": 0.02, "wpe.weight": 0.02, "c_attn.weight": 0.67 / math.sqrt(d), "attn.c_proj.weight": 0.5 / math.sqrt(d * layers),
                 "c_fc.weight": 0.7 / math.sqrt(d), "mlp.c_proj.weight": 0.35 / math.sqrt(d * layers)}
        for name, shape in hub_folder.shapes(config).items():
            spread = next((s for end, s in scale.items() if name.endswith(end)), 0)
            ones = "ln_" in name and name.endswith("weight")
            frozen = not use_mlp and "mlp" in name  # a zero MLP is still a GPT-2
            value = torch.zeros(shape) if frozen else torch.ones(shape) if ones else torch.randn(shape) * spread
            self.tensors[name.replace(".", "/")] = torch.nn.Parameter(value, requires_grad=not frozen)

    def get(self, name):
        return self.tensors[name.replace(".", "/")]

    def linear(self, x, name):
        return x @ self.get(name + ".weight") + self.get(name + ".bias")

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.get(name + ".weight"), self.get(name + ".bias"), self.config["layer_norm_epsilon"])

    def heads(self, x, layer):
        """z[prompt, position, head, :]: what each head mixed, before the projection."""
        prompts, length, d = x.shape
        split = self.config["n_head"]
        q, k, v = (part.view(prompts, length, split, -1).transpose(1, 2)
                   for part in self.linear(self.norm(x, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn").split(d, -1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // split)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        return (scores.masked_fill(future, -math.inf).softmax(-1) @ v).transpose(1, 2)

    def forward(self, tokens, change=None):
        """The residual stream after the last layer; change(layer, z) may return other z."""
        x = self.get("wte.weight")[tokens] + self.get("wpe.weight")[: tokens.shape[1]]
        for layer in range(self.config["n_layer"]):
            z = self.heads(x, layer)
            if change:
                z = change(layer, z)
            x = x + self.linear(z.flatten(-2), f"h.{layer}.attn.c_proj")
            if self.use_mlp:
                inner = self.linear(self.norm(x, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc")
                x = x + self.linear(F.gelu(inner, approximate="tanh"), f"h.{layer}.mlp.c_proj")
        return x

    def logits(self, x):
        return self.norm(x, "ln_f") @ self.get("wte.weight").T

    def arrays(self):
        return {name.replace("/", "."): value.detach().numpy() for name, value in self.tensors.items()}
