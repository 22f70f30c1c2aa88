// Pays from a wallet that lives in this browser (EIP-1193, found by EIP-6963): one transfer of the token,
// of what is still due. The wallet asks the shopper; this script sees no key.
"use strict";

(() => {
  const TRANSFER = "0xa9059cbb"; // transfer(address,uint256) of ERC-20
  const REFUSED = 4001; // by the shopper (EIP-1193)
  const UNKNOWN_CHAIN = 4902; // wallet_switchEthereumChain (EIP-3326)
  const ASKED_ALREADY = -32002;
  const RECEIPT_MS = 2000;
  const LATE_MS = 30_000; // so long a double click does not last
  const mostWallets = 8;
  const longestName = 40;
  const longestReason = 200;

  const page = document.getElementById("checkout");
  const texts = JSON.parse(page.dataset.texts);
  /** A text of the page's language with its values. */
  const write = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  let usualTitle = document.title;
  const announcer = document.getElementById("announce");
  const wallets = new Map(); // uuid -> { name, provider }
  let isBusy = false;
  let note = "";

  // A reason to stop, in words for the shopper.
  class Stop extends Error {}

  // The part of the page that says what is to be paid; gone when nothing is.
  const place = () => document.getElementById("wallet");
  const due = () => place().dataset;

  // What this tab has sent is kept over a reload, so that nobody pays twice by mistake.
  const key = () => `sent ${due().invoice}`;
  const sent = {
    read() {
      try {
        return JSON.parse(sessionStorage.getItem(key()));
      } catch {
        return null;
      }
    },
    write(record) {
      try {
        if (record) sessionStorage.setItem(key(), JSON.stringify(record));
        else sessionStorage.removeItem(key());
      } catch {
        // No storage: `memory` below is all there is.
      }
      memory = record;
    },
  };
  let memory = null;
  const record = () => memory ?? sent.read();
  const isUnderWay = () => {
    const its = record();
    return its !== null && (!its.isMined || its.atoms === due().atoms);
  };

  function say(text) {
    note = text;
    announcer.textContent = text;
    show();
  }

  function button(text, press) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "button";
    made.ariaDisabled = String(isBusy); // "disabled" would take the focus away
    const words = document.createElement("span");
    words.append(...text);
    made.append(words);
    made.addEventListener("click", press);
    return made;
  }

  // The name of a wallet may be of another direction than the text around it.
  function payWith(name) {
    const its = document.createElement("bdi");
    its.textContent = name;
    const [before, after] = texts.pay_with.split("{wallet}");
    return [before, its, after];
  }

  // Once a wallet has sent, the page asks for no money: one look, and nobody pays twice.
  function showSent() {
    const isSent = isUnderWay();
    document.getElementById("sheet").toggleAttribute("data-sent", isSent);
    document.getElementById("sent-box").hidden = !isSent;
    document.getElementById("sent-hash").textContent = isSent ? record().hash : "";
    if (isSent) document.title = document.getElementById("sent-title").textContent;
    else document.title = usualTitle;
  }

  // One main button: of a wallet in this browser, or on a phone the link to a wallet's own app.
  function showMain() {
    const isMain = wallets.size === 0 && matchMedia("(pointer: coarse)").matches;
    document.getElementById("open").classList.toggle("quiet", !isMain);
  }

  function show() {
    if (!place()) return;
    showSent();
    showMain();
    const { symbol, chainName } = due();
    const focused = document.activeElement?.id;
    const buttons = [];
    let text = note;
    if (isUnderWay()) {
      text ||= texts.sent_from_here;
      if (!isBusy && Date.now() - record().at >= LATE_MS) {
        text += ` ${texts.pay_again_if}`;
        buttons.push(button([texts.pay_again], () => (sent.write(null), say(""))));
      }
    } else if (wallets.size === 0) {
      text ||= texts.no_wallet;
    } else {
      for (const { name, provider } of wallets.values())
        buttons.push(button(payWith(name), () => attempt(() => pay(provider))));
      const [{ provider }] = wallets.values();
      const watch = button([write("show_token", { symbol })], () => attempt(() => watchAsset(provider)));
      watch.classList.add("quiet");
      buttons.push(watch);
      text ||= write("wallet_asks", { chain: chainName });
    }
    buttons.forEach((each, position) => (each.id = `wallet-${position}`));
    document.getElementById("wallet-buttons").replaceChildren(...buttons);
    document.getElementById("wallet-note").textContent = text;
    place().hidden = false;
    if (focused?.startsWith("wallet-")) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  // One thing at a time: a second click meanwhile does nothing.
  async function attempt(work) {
    if (isBusy) return;
    isBusy = true;
    say(texts.answer_in_wallet);
    let text;
    try {
      text = await work();
    } catch (error) {
      text = inWords(error);
    }
    isBusy = false;
    say(text);
  }

  function inWords(error) {
    if (error instanceof Stop) return error.message;
    if (error?.code === REFUSED) return texts.refused;
    if (error?.code === ASKED_ALREADY) return texts.asked_already;
    const reason = String(error?.message ?? texts.no_reason).slice(0, longestReason);
    return write("wallet_failed", { reason });
  }

  async function pay(provider) {
    const wanted = { ...due() };
    const accounts = await provider.request({ method: "eth_requestAccounts" });
    const from = accounts?.[0];
    if (!from) throw new Stop(texts.no_account);
    await enterChain(provider, wanted);
    await checkStillDue(wanted);
    const word = (hex) => hex.toLowerCase().padStart(64, "0");
    const data = TRANSFER + word(wanted.to.slice(2)) + word(BigInt(wanted.atoms).toString(16));
    const transaction = { from, to: wanted.token, value: "0x0", data, chainId: hexOf(wanted.chain) };
    const hash = await provider.request({ method: "eth_sendTransaction", params: [transaction] });
    if (!place()) return "";
    sent.write({ hash: String(hash), atoms: wanted.atoms, isMined: false, at: Date.now() });
    setTimeout(lookForReceipt, RECEIPT_MS, provider);
    setTimeout(show, LATE_MS);
    return write("sent", { amount: `${wanted.due} ${wanted.symbol}` });
  }

  const hexOf = (chain) => `0x${BigInt(chain).toString(16)}`;

  async function enterChain(provider, { chain, chainName, rpc }) {
    const isThere = async () => BigInt(await provider.request({ method: "eth_chainId" })) === BigInt(chain);
    if (await isThere()) return;
    const network = { chain: chainName, number: chain };
    const enter = { method: "wallet_switchEthereumChain", params: [{ chainId: hexOf(chain) }] };
    try {
      await provider.request(enter);
    } catch (error) {
      const code = error?.data?.originalError?.code ?? error?.code;
      if (code !== UNKNOWN_CHAIN) throw error;
      if (!rpc) throw new Stop(write("unknown_network", network));
      const added = {
        chainId: hexOf(chain),
        chainName,
        rpcUrls: [rpc],
        nativeCurrency: { name: "Test Ether", symbol: "ETH", decimals: 18 },
      };
      await provider.request({ method: "wallet_addEthereumChain", params: [added] });
      if (!(await isThere())) await provider.request(enter);
    }
    if (!(await isThere())) throw new Stop(write("other_network", network));
  }

  // The shopper may have taken minutes to answer, or paid from a telephone.
  async function checkStillDue(wanted) {
    let status;
    try {
      const answer = await fetch(`${location.pathname}/status`, {
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
      status = await answer.json();
    } catch {
      throw new Stop(texts.server_silent);
    }
    const isSame = place() && status.is_payable && status.revision === page.dataset.revision;
    if (isSame && due().atoms === wanted.atoms) return;
    document.dispatchEvent(new Event("look"));
    throw new Stop(texts.invoice_changed);
  }

  async function lookForReceipt(provider) {
    let receipt = null;
    const its = record();
    if (!place() || its === null) return;
    try {
      receipt = await provider.request({ method: "eth_getTransactionReceipt", params: [its.hash] });
    } catch {
      // The wallet may be locked or on another chain by now.
    }
    if (!place() || record()?.hash !== its.hash) return;
    if (!receipt) {
      setTimeout(lookForReceipt, RECEIPT_MS, provider);
    } else if (BigInt(receipt.status ?? 1) === 0n) {
      sent.write(null);
      say(texts.transfer_failed);
    } else {
      sent.write({ ...its, isMined: true });
      show();
    }
  }

  async function watchAsset(provider) {
    const { token, symbol, decimals } = due();
    await enterChain(provider, due());
    const options = { address: token, symbol, decimals: Number(decimals) };
    const isShown = await provider.request({
      method: "wallet_watchAsset",
      params: { type: "ERC20", options },
    });
    return write(isShown ? "token_shown" : "token_not_shown", { symbol });
  }

  function add(id, name, provider) {
    if (typeof provider?.request !== "function") return;
    if (!wallets.has(id) && wallets.size >= mostWallets) return;
    wallets.set(id, { name: String(name).slice(0, longestName), provider });
    show();
  }

  window.addEventListener("eip6963:announceProvider", ({ detail }) => {
    if (wallets.has("injected")) wallets.delete("injected");
    add(String(detail?.info?.uuid), detail?.info?.name ?? texts.a_wallet, detail?.provider);
  });
  document.addEventListener("sheet", () => {
    usualTitle = document.title;
    if (!isBusy && place() && record() && !isUnderWay()) {
      sent.write(null); // it has arrived, and was not enough
      note = "";
    }
    show();
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  if (wallets.size === 0 && window.ethereum) add("injected", texts.your_wallet, window.ethereum);
  show();
})();
