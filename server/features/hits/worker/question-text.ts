// A question about hits as text. A question by tag, domain or slug names every link of a workspace: as objects, 300,000 of
// them hold the event loop for 300 ms on their way to the worker.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import type { HitQuery } from '../../../storage/hits/hit-engine.ts'

const GROUPS_AT_ONCE = 2_000

/** Equal questions have equal texts. Gives the event loop back in between where the question is long. */
export function writeQuestion(query: HitQuery): string | Promise<string> {
  const { groupBy } = query
  if (groupBy.by !== 'linkGroup') return JSON.stringify(query)
  return writeGroups({ ...query, groupBy: { ...groupBy, groups: [] } }, groupBy.groups)
}

async function writeGroups(rest: HitQuery, groups: object[]): Promise<string> {
  const pace = createPacer()
  const pieces: string[] = []
  for (let from = 0; from < groups.length; from += GROUPS_AT_ONCE) {
    pieces.push(JSON.stringify(groups.slice(from, from + GROUPS_AT_ONCE)).slice(1, -1))
    await pace()
  }
  return `${JSON.stringify(rest)}\n[${pieces.join()}]`
}

export function readQuestion(text: string): HitQuery {
  // JSON has no line break of its own.
  const [rest = '', groups] = text.split('\n')
  const query: HitQuery = JSON.parse(rest)
  if (groups !== undefined && query.groupBy.by === 'linkGroup') query.groupBy.groups = JSON.parse(groups)
  return query
}
