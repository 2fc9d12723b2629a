// Finds many patterns in a text in one pass (Aho-Corasick, https://doi.org/10.1145/360825.360855). The time depends on the
// length of the text, not on the number of patterns.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'

/**
 * Matching is case-sensitive. `*` matches any characters except a space. The searched text has one space between words
 * and one at each end, so a space in a pattern marks the start or the end of a word.
 */
export interface TextPattern {
  text: string
  /** The id of its matches. */
  rule: string
}

export interface PatternMatch {
  rule: string
  /** The whole words that contain the match. */
  found: string
}

export interface PatternMatcher {
  /** Yields to the event loop on long texts. @returns at most `max` matches, one per rule, in the order of the text */
  find(text: string, max: number): PatternMatch[] | Promise<PatternMatch[]>
}

/** A match that ends at a node: a whole pattern, or the longest part of a pattern with stars. */
interface Hit {
  pattern: number
  length: number
  /** All parts between the stars, if there are several. */
  parts: string[] | undefined
  endsWord: boolean
}

interface Automaton {
  /** For each ASCII letter whether a pattern begins with it: most letters of a text begin none. */
  beginnings: Uint8Array
  /** The trie: the next node for a node and a letter; the key is `toEdge(node, letter)`. */
  edges: Map<number, number>
  /** Failure links: the node of the longest proper suffix of this node's text that is in the trie. */
  fails: Int32Array
  /** The first node with hits: this node, or one along its failure links; 0 if there is none. */
  hitNodes: Int32Array
  hits: Map<number, Hit[]>
}

const ROOT = 0
/** Letters between two yields to the event loop. */
const LETTERS_AT_ONCE = 2048

const toEdge = (node: number, code: number) => node * 0x10000 + code

export async function compilePatterns(patterns: TextPattern[]): Promise<PatternMatcher> {
  const automaton = await buildAutomaton(patterns)
  return { find: (text, max) => find(automaton, patterns, text, max) }
}

async function buildAutomaton(patterns: TextPattern[]): Promise<Automaton> {
  const pace = createPacer()
  const edges = new Map<number, number>()
  const hits = new Map<number, Hit[]>()
  const nodes: TrieNode[] = [{ parent: ROOT, code: 0, depth: 0 }]
  for (const [pattern, { text }] of patterns.entries()) {
    const parts = text.split('*').filter((part) => part !== '')
    const part = parts.reduce((longest, one) => (one.length > longest.length ? one : longest))
    const node = addToTrie(edges, nodes, part)
    const several = parts.length > 1 ? parts : undefined
    const hit = { pattern, length: part.length, parts: several, endsWord: part.endsWith(' ') }
    hits.set(node, [...(hits.get(node) ?? []), hit])
    await pace()
  }
  const fails = new Int32Array(nodes.length)
  const hitNodes = new Int32Array(nodes.length)
  // By depth: a failure link points to a shallower node, which must be complete first.
  const byDepth = nodes.map((node, number) => ({ ...node, number })).sort((a, b) => a.depth - b.depth)
  for (const { number, parent, code, depth } of byDepth.slice(1)) {
    const fail = depth === 1 ? ROOT : step(edges, fails, fails[parent] as number, code)
    fails[number] = fail
    hitNodes[number] = hits.has(number) ? number : (hitNodes[fail] as number)
    await pace()
  }
  const beginnings = new Uint8Array(ASCII_LETTERS)
  for (let code = 0; code < ASCII_LETTERS; code++) beginnings[code] = Number(edges.has(toEdge(ROOT, code)))
  return { beginnings, edges, fails, hitNodes, hits }
}

const ASCII_LETTERS = 128

interface TrieNode {
  parent: number
  code: number
  depth: number
}

/** @returns the node at the end of the text */
function addToTrie(edges: Automaton['edges'], nodes: TrieNode[], text: string): number {
  let node = ROOT
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const edge = toEdge(node, code)
    const next = edges.get(edge) ?? nodes.push({ parent: node, code, depth: at + 1 }) - 1
    edges.set(edge, next)
    node = next
  }
  return node
}

function step(edges: Automaton['edges'], fails: Int32Array, from: number, code: number): number {
  for (let node = from; ; node = fails[node] as number) {
    const next = edges.get(toEdge(node, code))
    if (next !== undefined) return next
    if (node === ROOT) return ROOT
  }
}

const SPACE = 0x20

function find(
  automaton: Automaton,
  patterns: TextPattern[],
  text: string,
  max: number,
): PatternMatch[] | Promise<PatternMatch[]> {
  const search: Search = {
    automaton,
    patterns,
    text,
    max,
    node: ROOT,
    words: 0,
    found: new Map(),
    looked: [],
  }
  if (text.length > LETTERS_AT_ONCE) return findInSteps(search)
  searchUntil(search, 0, text.length)
  return [...search.found.values()]
}

interface Search {
  automaton: Automaton
  patterns: TextPattern[]
  text: string
  max: number
  node: number
  /** The number of the word that is read. */
  words: number
  found: Map<string, PatternMatch>
  /** The last checked word of each pattern: one check per word is enough. */
  looked: number[]
}

async function findInSteps(search: Search): Promise<PatternMatch[]> {
  const { text, found, max } = search
  const pace = createPacer()
  for (let from = 0; from < text.length && found.size < max; from += LETTERS_AT_ONCE) {
    searchUntil(search, from, Math.min(from + LETTERS_AT_ONCE, text.length))
    await pace()
  }
  return [...found.values()]
}

/** Reads the letters of a part, or fewer where it finds enough. */
function searchUntil(search: Search, from: number, until: number): void {
  const { automaton, text, found, max } = search
  const { beginnings, edges, fails, hitNodes } = automaton
  let { node } = search
  for (let at = from; at < until && found.size < max; at++) {
    const code = text.charCodeAt(at)
    if (code === SPACE) search.words++
    if (node !== ROOT || code >= ASCII_LETTERS || beginnings[code] === 1)
      node = step(edges, fails, node, code)
    for (
      let ending = hitNodes[node] as number;
      ending !== ROOT;
      ending = hitNodes[fails[ending] as number] as number
    )
      addHits(search, ending, at)
  }
  search.node = node
}

/** Adds the patterns that end at a letter. */
function addHits(
  { automaton, patterns, text, max, words, found, looked }: Search,
  ending: number,
  at: number,
) {
  for (const { pattern, length, parts, endsWord } of automaton.hits.get(ending) as Hit[]) {
    if (found.size === max) return
    const word = endsWord ? words - 1 : words
    const { rule } = patterns[pattern] as TextPattern
    if (found.has(rule) || (parts && looked[pattern] === word)) continue
    looked[pattern] = word
    const around = readWords(text, at + 1 - length, at + 1)
    if (!parts || hasParts(` ${around} `, parts)) found.set(rule, { rule, found: around })
  }
}

/** Takes the earliest position of each part, which leaves the most room for the later parts. */
function hasParts(word: string, parts: string[]): boolean {
  let from = 0
  for (const part of parts) {
    const at = word.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return true
}

/** The whole words around a part of the text. */
function readWords(text: string, start: number, end: number): string {
  const from = text[start] === ' ' ? start : text.lastIndexOf(' ', start)
  const to = text[end - 1] === ' ' ? end : text.indexOf(' ', end)
  return text.slice(from + 1, to === -1 ? text.length : to).trim()
}
