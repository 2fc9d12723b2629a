// The graph of imports between files, types included, and the paths through it.

import { posix } from 'node:path'
import { listImports, type SourceFile, type SourceImport } from './typescript-source.ts'

export interface LocalImport extends SourceImport {
  /** The path of the imported file in the repository. */
  target: string
}

export function listLocalImports(source: SourceFile): LocalImport[] {
  return listImports(source)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map((local) => ({
      ...local,
      target: posix.normalize(posix.join(posix.dirname(source.path), local.specifier)),
    }))
}

/** From each node to the nodes that it uses. */
export type Graph = Map<string, Set<string>>

export function addArrow(graph: Graph, from: string, to: string) {
  const targets = graph.get(from) ?? new Set()
  graph.set(from, targets.add(to))
}

/** The shortest way from one node to another, or from a node back to itself: `[a, b, a]`. */
export function findPath(graph: Graph, start: string, end: string): string[] | undefined {
  const previous = new Map<string, string>()
  const queue = [start]
  for (const node of queue) {
    for (const target of graph.get(node) ?? []) {
      if (target === end) return [...traceBack(previous, start, node), end]
      if (previous.has(target)) continue
      previous.set(target, node)
      queue.push(target)
    }
  }
  return undefined
}

function traceBack(previous: Map<string, string>, start: string, end: string): string[] {
  const path = [end]
  for (let node = end; node !== start; path.unshift(node)) node = previous.get(node) as string
  return path
}
