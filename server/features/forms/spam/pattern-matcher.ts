// Finds many patterns in a text in one pass (Aho-Corasick, https://doi.org/10.1145/360825.360855): the time grows with the
// text, and not with the number of patterns.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'

/**
 * A pattern is compared letter by letter. `*` stands for any characters but a space. A text is words between single
 * spaces, with a space at each end, so a pattern says by its own spaces where a word begins or ends.
 */
export interface Pattern {
  text: string
  /** What it is found as. */
  rule: string
}

export interface PatternMatch {
  rule: string
  /** The words of the text that it was found in. */
  found: string
}

export interface PatternMatcher {
  /** @returns each rule once, in the order of the text, at most `max`. It gives the event loop back in between */
  find(text: string, max: number): Promise<PatternMatch[]>
}

/** A part of a pattern between two stars. */
interface Segment {
  pattern: number
  /** Its place among the segments of its pattern. */
  index: number
  length: number
  isLast: boolean
  endsWord: boolean
}

/** How far a pattern with a star inside has been found. */
interface Progress {
  word: number
  next: number
  end: number
}

interface Automaton {
  /** The node after a node and a letter, by `toEdge`. */
  edges: Map<number, number>
  /** The node of the longest end of this node's text that begins a segment too. */
  fails: Int32Array
  /** The node itself or the next one by `fails` that ends segments; 0 where none does. */
  hits: Int32Array
  segments: Map<number, Segment[]>
}

const ROOT = 0
/** The event loop is looked at after so many letters. */
const LETTERS_AT_ONCE = 2048

const toEdge = (node: number, code: number) => node * 0x10000 + code

export async function compilePatterns(patterns: Pattern[]): Promise<PatternMatcher> {
  const automaton = await buildAutomaton(patterns)
  return { find: (text, max) => find(automaton, patterns, text, max) }
}

async function buildAutomaton(patterns: Pattern[]): Promise<Automaton> {
  const pace = createPacer()
  const edges = new Map<number, number>()
  const segments = new Map<number, Segment[]>()
  const nodes: { parent: number; code: number; depth: number }[] = [{ parent: ROOT, code: 0, depth: 0 }]
  for (const [pattern, { text }] of patterns.entries()) {
    const parts = text.split('*').filter((part) => part !== '')
    for (const [index, part] of parts.entries()) {
      let node = ROOT
      for (let at = 0; at < part.length; at++) {
        const edge = toEdge(node, part.charCodeAt(at))
        const next = edges.get(edge) ?? nodes.length
        if (next === nodes.length) {
          edges.set(edge, next)
          nodes.push({ parent: node, code: part.charCodeAt(at), depth: at + 1 })
        }
        node = next
      }
      const isLast = index === parts.length - 1
      const segment = { pattern, index, length: part.length, isLast, endsWord: part.endsWith(' ') }
      segments.set(node, [...(segments.get(node) ?? []), segment])
    }
    await pace()
  }
  const fails = new Int32Array(nodes.length)
  const hits = new Int32Array(nodes.length)
  // A node's fail is nearer to the root than the node, so it is known first.
  const byDepth = nodes.map((_, node) => node).sort((a, b) => depthOf(a) - depthOf(b))
  for (const node of byDepth.slice(1)) {
    const { parent, code, depth } = nodes[node] as (typeof nodes)[number]
    const fail = depth === 1 ? ROOT : step(edges, fails, fails[parent] as number, code)
    fails[node] = fail
    hits[node] = segments.has(node) ? node : (hits[fail] as number)
    await pace()
  }
  return { edges, fails, hits, segments }

  function depthOf(node: number) {
    return nodes[node]?.depth ?? 0
  }
}

function step(edges: Automaton['edges'], fails: Int32Array, from: number, code: number): number {
  for (let node = from; ; node = fails[node] as number) {
    const next = edges.get(toEdge(node, code))
    if (next !== undefined) return next
    if (node === ROOT) return ROOT
  }
}

const SPACE = 0x20

async function find(
  { edges, fails, hits, segments }: Automaton,
  patterns: Pattern[],
  text: string,
  max: number,
): Promise<PatternMatch[]> {
  const pace = createPacer()
  const found = new Map<string, PatternMatch>()
  const progress = new Map<number, Progress>()
  let node = ROOT
  let word = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === SPACE) word++
    node = step(edges, fails, node, code)
    for (let hit = hits[node] as number; hit !== ROOT; hit = hits[fails[hit] as number] as number) {
      for (const segment of segments.get(hit) as Segment[]) {
        const { rule } = patterns[segment.pattern] as Pattern
        if (found.has(rule) || !advance(progress, segment, at + 1, word)) continue
        found.set(rule, { rule, found: readWords(text, at + 1 - segment.length, at + 1) })
        if (found.size === max) return [...found.values()]
      }
    }
    if (at % LETTERS_AT_ONCE === 0) await pace()
  }
  return [...found.values()]
}

/** @returns true where the segment completes its pattern */
function advance(all: Map<number, Progress>, segment: Segment, end: number, words: number): boolean {
  if (segment.index === 0 && segment.isLast) return true
  const word = segment.endsWord ? words - 1 : words
  let progress = all.get(segment.pattern)
  if (progress?.word !== word) {
    if (segment.index > 0) return false
    progress = { word, next: 0, end: -1 }
    all.set(segment.pattern, progress)
  }
  // The earliest place of each segment leaves the most room for those after it.
  if (progress.next !== segment.index || end - segment.length < progress.end) return false
  progress.next++
  progress.end = end
  return segment.isLast
}

/** The whole words around a part of the text. */
function readWords(text: string, start: number, end: number): string {
  const from = text[start] === ' ' ? start : text.lastIndexOf(' ', start)
  const to = text[end - 1] === ' ' ? end : text.indexOf(' ', end)
  return text.slice(from + 1, to === -1 ? text.length : to).trim()
}
