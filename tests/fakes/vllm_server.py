"""A stand-in for vLLM's server with adapters that are loaded while it runs, on loopback.

Answers, statuses and messages are those that vLLM 0.32.0 (CPU) was seen to give. The network is a real one: that of
transformers, with the adapters of the folder that a name was loaded with.
"""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import GenerationOptions


class VLLMServer:
    """A server of one base. `stop` and `start` are a restart: the port stays, and adapters are gone."""

    def __init__(self, base: Path, updating: bool = True, max_rank: int = 16) -> None:
        self.base, self.updating, self.max_rank = base, updating, max_rank
        self.networks: dict[str, HFModel] = {}
        self.roots: dict[str, str] = {}
        self.asked: Counter[str] = Counter()
        self.swapped: dict[str, str] = {}
        """Names that answer with the weights of another folder than they were loaded with."""
        self._port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> None:
        self._server = _Server(("127.0.0.1", self._port), self)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.networks, self.roots = {"base": HFModel(str(self.base))}, {"base": str(self.base)}

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for network in self.networks.values():
            network.close()

    def adapters(self) -> list[str]:
        return [name for name in self.roots if name != "base"]

    # -- what is answered ----------------------------------------------------------------------------------------------

    def load(self, body: dict[str, Any]) -> tuple[int, Any]:
        name, path = body["lora_name"], body["lora_path"]
        if name in self.roots:
            text = f"The lora adapter '{name}' has already been loaded. If you want to load the adapter in place, "
            return 400, _error(f"{text}set 'load_inplace' to True.", "InvalidUserInput", 400)
        folder = Path(self.swapped.get(name, path))
        if not (folder / "adapter_config.json").is_file():
            return 404, _error(f"Loading lora {name} failed: No adapter found for {path}", "NotFoundError", 404)
        rank = json.loads((folder / "adapter_config.json").read_text())["r"]
        if rank > self.max_rank:
            text = f"Loading lora {name} failed: LoRA rank {rank} is greater than max_lora_rank {self.max_rank}."
            return 400, _error(text, "BadRequestError", 400)
        self.networks[name], self.roots[name] = HFModel(str(folder)), path
        return 200, f"Success: LoRA adapter '{name}' added successfully."

    def unload(self, body: dict[str, Any]) -> tuple[int, Any]:
        name = body["lora_name"]
        if name not in self.adapters():
            return 404, _error(f"The lora adapter '{name}' cannot be found.", "NotFoundError", 404)
        del self.roots[name]
        self.networks.pop(name).close()
        return 200, f"Success: LoRA adapter '{name}' removed successfully."

    def complete(self, body: dict[str, Any]) -> tuple[int, Any]:
        name = body["model"]
        network = self.networks.get(name)
        self.asked[name] += 1
        if network is None:
            text = f"The model `{name}` does not exist. Valid aliases: {', '.join(self.roots)}."
            return 404, _error(text, "NotFoundError", 404)
        options = GenerationOptions(body["n"], body["max_tokens"], body["temperature"], body["top_p"])
        choices = []
        for index, sample in enumerate(network.generate([body["prompt"]], options, [body["seed"]])[0]):
            # The sum is the first token's here: clients add them up.
            others = [0.0] * (sample.num_tokens - 1)
            logprobs = {"token_logprobs": [sample.logprob, *others]}
            reason = "stop" if sample.finished else "length"
            choices.append({"index": index, "text": sample.text, "logprobs": logprobs, "finish_reason": reason})
        return 200, {"object": "text_completion", "model": name, "choices": choices, "usage": {}}

    def models(self) -> tuple[int, Any]:
        entries = [
            {"id": name, "object": "model", "root": root, "parent": None if name == "base" else "base"}
            for name, root in self.roots.items()
        ]
        return 200, {"object": "list", "data": entries}

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/v1/completions":
            return self.complete(body)
        if self.updating and path == "/v1/load_lora_adapter":
            return self.load(body)
        if self.updating and path == "/v1/unload_lora_adapter":
            return self.unload(body)
        return 404, {"detail": "Not Found"}


def _error(message: str, kind: str, code: int) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], state: VLLMServer) -> None:
        super().__init__(address, _Handler)
        self.state = state

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    server: _Server

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        self._send(*self.server.state.models())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send(*self.server.state.answer(self.path, body))

    def _send(self, code: int, body: Any) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
