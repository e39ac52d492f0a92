// A field that follows what the server tells, until somebody types in it; what was typed holds until it is sent.

const NEWS_MS = 250; // what is told over the socket comes within so much of the answer

export class Field {
  #before = null;
  #typed = false;
  #sending = 0;

  // What `waits` for a button is kept while somebody does something else first.
  constructor(input, waits = true) {
    this.input = input;
    input.addEventListener("input", () => (this.#typed = true));
    if (!waits) input.addEventListener("blur", () => (this.#typed = false));
  }

  follow(value) {
    if (value === this.#before || this.#typed || this.#sending) return;
    this.input.value = this.#before = value;
  }

  // What stands in it, on its way to the server.
  sent() {
    this.#typed = false;
    this.#before = null;
    return this.input.value;
  }

  // Until the news of it have come, older ones change nothing: two quick points are two.
  async held(answer, settled) {
    this.#sending += 1;
    await answer;
    setTimeout(() => {
      this.#sending -= 1;
      settled();
    }, NEWS_MS);
  }
}
