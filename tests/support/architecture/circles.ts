// Rules about cycles: imports between the folders of a feature run one way, and imports of files have no cycles.
// Types count, because a reader has to follow them too. A room is a folder of a feature.

import { addArrow, findPath, type Graph, listLocalImports } from './import-graph.ts'
import { findFeature } from './layers.ts'
import type { Violation } from './rule.ts'
import type { SourceFile } from './typescript-source.ts'

export function checkFileCircles(sources: SourceFile[]): Violation[] {
  const graph: Graph = new Map()
  for (const source of sources)
    for (const { target } of listLocalImports(source)) addArrow(graph, source.path, target)
  return sources.flatMap(({ path }) => {
    const circle = findPath(graph, path, path)
    if (!circle) return []
    const message = `imports itself: ${circle.join(' → ')}`
    return [{ rule: 'circles' as const, file: path, line: 1, what: '', message }]
  })
}

/** These files may import from every room of their feature, and every room may import them. */
const OUTSIDE_ROOMS = /^(?:api|public|schema|[\w-]+-api)\.ts$/

/** The room of a file, such as `hits/spool/`. Files beside the rooms are a room of their own: `hits/`. */
function findRoom(path: string): string | undefined {
  const [feature, ...inside] = path.replace(/^server\/features\//, '').split('/')
  if (!findFeature(path) || OUTSIDE_ROOMS.test(inside.join('/'))) return undefined
  return inside.length > 1 ? `${feature}/${inside[0]}/` : `${feature}/`
}

export function checkRoomCircles(server: SourceFile[]): Violation[] {
  const graph: Graph = new Map()
  const arrows = server.flatMap((source) =>
    listLocalImports(source).flatMap(({ target, line }) => {
      const [from, to] = [findRoom(source.path), findRoom(target)]
      if (!from || !to || from === to || findFeature(source.path) !== findFeature(target)) return []
      addArrow(graph, from, to)
      return [{ from, to, at: `${source.path}:${line}` }]
    }),
  )
  return [...Map.groupBy(arrows, ({ from, to }) => `${from} ${to}`).values()].flatMap((imports) => {
    const { from, to } = imports[0] as (typeof arrows)[number]
    const back = findPath(graph, to, from)
    if (!back) return []
    const message = `makes a circle of rooms: ${[from, ...back].join(' → ')} (${imports.map(({ at }) => at).join(', ')})`
    return [{ rule: 'rooms' as const, file: `server/features/${from}`, line: 1, what: to, message }]
  })
}
