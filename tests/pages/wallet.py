"""A simulated wallet of a shopper: a provider of EIP-1193 in the page, whose requests the test
answers.

An extension connects to its node outside the page, where the policy of the page does not apply.
Here the test does this: it reads each request from the page and writes back the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.pages.browser import Browser

INJECTED = """
(() => {
  const asked = (window.asked = []);
  const waiting = new Map();
  window.answer = (id, result, error) => {
    const [resolve, reject] = waiting.get(id);
    waiting.delete(id);
    if (error === null) resolve(result);
    else reject(Object.assign(new Error(error.message), error));
  };
  const make = (name) => ({
    request: ({ method, params }) => new Promise((...its) => {
      const id = waiting.size + 1000 * asked.length + Math.random();
      waiting.set(id, its);
      asked.push({ id, name, method, params: params ?? [] });
    }),
  });
  const announced = %(names)s;
  const announce = () => announced.forEach((name, position) => {
    const info = { uuid: `uuid-${position}`, name, icon: "data:,", rdns: "test.wallet" };
    const detail = Object.freeze({ info: Object.freeze(info), provider: make(name) });
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  });
  window.addEventListener("eip6963:requestProvider", announce);
  if (%(legacy)s) window.ethereum = make("legacy");
})();
"""


class Refused(Exception):
    """An error that a wallet returns instead of a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


Answer = Callable[[str, list[Any]], object]
"""Method and parameters -> result. Raise `Refused`."""


class Wallet:
    """The wallets of a browser. `calls` are the called methods, in order."""

    def __init__(self, browser: Browser, answer: Answer) -> None:
        self._browser = browser
        self._answer = answer
        self.calls: list[tuple[str, list[Any]]] = []

    def serve(self) -> None:
        """Answer the requests since the last call."""
        for question in self._browser.run("return window.asked ? window.asked.splice(0) : []"):
            self.calls.append((question["method"], question["params"]))
            result, error = None, None
            try:
                result = self._answer(question["method"], question["params"])
            except Refused as refused:
                error = {"code": refused.code, "message": str(refused)}
            self._browser.run("window.answer(...arguments)", question["id"], result, error)

    def serve_until(self, condition: Callable[[], object], what: str) -> None:
        """Answer requests until the condition is true."""

        def is_so() -> object:
            self.serve()
            return condition()

        self._browser.wait(is_so, what)

    @property
    def sent(self) -> list[dict[str, Any]]:
        """Return the requested transactions."""
        return [params[0] for method, params in self.calls if method == "eth_sendTransaction"]


def by_method(answers: Mapping[str, object]) -> Answer:
    """Return a function that answers by method, with values, exceptions to raise, or functions of
    the parameters.
    """

    def answer(method: str, params: list[Any]) -> object:
        its = answers[method]
        if isinstance(its, Exception):
            raise its
        return its(params) if callable(its) else its

    return answer
