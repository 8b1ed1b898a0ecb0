// The open game: its players, the tree of its variations, and the form that changes it.

import { byId, make } from "./dom.js";
import { GameTree } from "./game-tree.js";
import { showHead } from "./games.js";
import { MOVE_GLYPHS, POSITION_GLYPHS } from "./notes.js";
import { ask } from "./server.js";
import { COMMANDS, pathOf, plyOf, treeOf, withoutCommands } from "./variations.js";

/** The fields that select glyphs, and their glyphs. A move has at most one glyph from each field. */
const GLYPH_FIELDS = { "move-glyph": MOVE_GLYPHS, "position-glyph": POSITION_GLYPHS };
/** A fragment contains the id of a game in the book, or any game as PGN. */
const FRAGMENT = /^#(game|pgn)=(.*)$/;

/** Encodes text for a fragment. Spaces become plus signs, because they are frequent in PGN. */
const encoded = text => encodeURIComponent(text).replaceAll("%20", "+");
const decoded = text => decodeURIComponent(text.replaceAll("+", " "));

const uciOf = nodes => nodes.map(node => node.uci);

export class OpenGame {
  #page; #tree = null; #id = null; #fragment = ""; #shown = null;

  /**
   * `page` has `moves` (the moves on the board), `go` (shows the position after moves, and the first line after
   * them if the tree has changed), `changed` (called when the address has changed), and `copy` (copies text).
   */
  constructor(page) {
    this.#page = page;
    for (const [field, texts] of Object.entries(GLYPH_FIELDS)) {
      // Integer keys of objects are sorted, so the glyphs have a fixed order.
      byId(field).append(make("option", { value: "" }, "–"), ...Object.entries(texts).map(([nag, text]) => make("option", { value: nag }, text)));
      byId(field).addEventListener("change", () => this.#change(node => this.#setGlyph(node, texts, byId(field).value)));
    }
    // Do not display the tree again here, because this would remove a move that the user is clicking.
    byId("comment").addEventListener("change", () => this.#saveComment());
    byId("comment").addEventListener("focusout", event => { if (!byId("tree").contains(event.relatedTarget)) this.show(); });
    byId("edit").addEventListener("submit", event => { event.preventDefault(); this.show(); });
    byId("promote").addEventListener("click", () => this.#change(node => this.#tree.promote(node)));
    byId("make-main").addEventListener("click", () => this.#change(node => this.#tree.makeMain(node)));
    byId("delete").addEventListener("click", () => this.#change(node => this.#tree.remove(node)));
    byId("copy-pgn").addEventListener("click", () => this.#page.copy(this.#tree.pgn()));
  }

  /** The tree of the open game, or `null`. */
  get tree() { return this.#tree; }

  /** The part of the address that restores the game. */
  get fragment() { return this.#fragment; }

  /** Opens a game. `id` is its id in the book if it is unchanged. Closes the game if `tree` is `null`. */
  open(tree, id = null) {
    [this.#tree, this.#id] = [tree, id];
    this.#fragment = !tree ? "" : id ? `#game=${encoded(id)}` : `#pgn=${encoded(tree.pgn())}`;
  }

  /** Opens the game in the fragment of an address, unless it is open. Ignores links to places in the page. */
  async restore(fragment) {
    if (fragment === this.#fragment) return;
    const [, kind, text] = FRAGMENT.exec(fragment) ?? [];
    if (!fragment) return this.open(null);
    if (!kind) return;
    const game = kind === "game" ? await ask(`game/${encodeURIComponent(decoded(text))}`) : await ask("read", { method: "POST", body: decoded(text) });
    if (fragment !== location.hash) return;
    this.open(new GameTree(game, decoded(text)), kind === "game" ? decoded(text) : null);
    this.#fragment = fragment;
  }

  /** Adds a line to the tree of the open game. Returns whether the game has changed. */
  add(line) {
    const isChanged = this.#tree?.add(line) ?? false;
    if (isChanged) this.#reopen();
    return isChanged;
  }

  /** Returns whether the open game contains these moves; true if no game is open. */
  contains(moves) { return !this.#tree || this.#tree.find(moves) !== undefined; }

  /** Returns moves and the first line after them in the open game. */
  through(moves) {
    return this.#tree && this.contains(moves) ? uciOf(this.#tree.through(moves)) : moves;
  }

  /** Moves the focus to the comment on the last move. */
  focus() {
    if (this.#tree && !byId("comment").disabled) byId("comment").focus();
  }

  /** Shows the game, and marks the position on the board in its tree. */
  show() {
    showHead(this.#tree, this.#id, () => { this.open(null); this.#page.changed(); this.show(); });
    byId("variations").hidden = this.#tree === null;
    if (!this.#tree) return;
    const { root, fen, comment } = this.#tree;
    const node = this.#node();
    const box = byId("tree");
    const hadFocus = box.contains(document.activeElement);
    const text = withoutCommands(comment);
    box.replaceChildren(text ? make("p", { class: "note" }, text) : "", treeOf(root.children, plyOf(fen), { pick: path => this.#page.go(uciOf(path)), current: node, hasMainLine: true }));
    const here = box.querySelector("[aria-current]");
    box.scrollTop = here ? here.offsetTop - box.clientHeight / 2 : 0;
    if (hadFocus) here?.focus({ preventScroll: true });
    this.#showForm(node);
  }

  #showForm(node) {
    const isMove = node !== undefined && node !== this.#tree.root;
    for (const id of [...Object.keys(GLYPH_FIELDS), "delete"]) byId(id).disabled = !isMove;
    byId("comment").disabled = node === undefined;
    for (const id of ["promote", "make-main"]) byId(id).disabled = !isMove || this.#tree.variationOf(node) === null;
    for (const [field, texts] of Object.entries(GLYPH_FIELDS)) byId(field).value = (isMove && node.nags.find(nag => nag in texts)) || "";
    // Keep what the user is writing.
    if (node === this.#shown && document.activeElement === byId("comment")) return;
    byId("comment").value = node ? withoutCommands(this.#tree.commentOf(node)) : "";
    this.#shown = node;
  }

  /** Returns the node of the position on the board; `undefined` until the server has accepted its last move. */
  #node() { return this.#tree.find(this.#page.moves()); }

  /** Updates the address after a change. */
  #reopen() {
    this.#tree.keepUnread();
    this.open(this.#tree);
  }

  /** Changes the node of the position on the board, and shows the game. */
  #change(act) {
    const node = this.#node();
    if (!node?.parent) return;
    const path = pathOf(node);
    act(node);
    this.#reopen();
    this.#page.go(uciOf(node.parent.children.includes(node) ? path : path.slice(0, -1)), true);
  }

  #setGlyph(node, texts, nag) {
    const others = node.nags.filter(other => !(other in texts));
    node.nags = (nag ? [...others, Number(nag)] : others).sort((one, other) => one - other);
  }

  /** Replaces the text of the comment on the last move or, at the start, on the game; keeps its commands. */
  #saveComment() {
    const node = this.#shown;
    // The game may have been replaced while the user was writing.
    if (this.#tree?.find(uciOf(pathOf(node))) !== node) return;
    const commands = this.#tree.commentOf(node).match(COMMANDS) ?? [];
    this.#tree.setComment(node, [...commands, byId("comment").value.trim()].filter(Boolean).join(" "));
    this.#reopen();
    this.#page.changed();
  }
}
