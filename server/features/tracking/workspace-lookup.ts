// Which workspace a public id names, in memory: the snippet says it with every page view.

import type { Database } from '../../storage/database/open-database.ts'

export interface WorkspaceLookup {
  /** null: there is none. At once when memory knows, else a promise. */
  find(publicId: string): number | null | Promise<number | null>
  /** undefined: not known here. */
  findCached(publicId: string): number | null | undefined
  invalidate(workspaceId: number): void
}

/** As ids are made, and looser: nothing that a store would stumble over. */
const WELL_FORMED = /^[\w-]{1,64}$/
const NAMES_MAX = 20_000
/** A workspace that was just made must not stay unknown, nor may each guess be a question to the store. */
const MISSING_MS = 10_000

interface Entry {
  id: number | null
  until: number
}

/** Two generations, as the links' cache: what was not asked for since the younger filled up goes with the older. */
export function createWorkspaceLookup(
  { read }: Pick<Database, 'read'>,
  { max = NAMES_MAX, clock = () => performance.now() } = {},
): WorkspaceLookup {
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  const asking = new Map<string, Promise<number | null>>()
  let changes = 0

  function keep(publicId: string, entry: Entry) {
    if (young.size >= max / 2) {
      old = young
      young = new Map()
    }
    young.set(publicId, entry)
  }

  async function ask(publicId: string): Promise<number | null> {
    const before = changes
    // The only question about workspaces that names none: the public id is what pages say.
    const found = await read
      .selectFrom('workspaces')
      .select('id')
      .where('public_id', '=', publicId)
      .executeTakeFirst()
    const id = found?.id ?? null
    if (changes === before) {
      keep(publicId, { id, until: id === null ? clock() + MISSING_MS : Number.POSITIVE_INFINITY })
    }
    return id
  }

  function known(publicId: string): number | null | undefined {
    const entry = young.get(publicId)
    if (entry) return entry.until > clock() ? entry.id : undefined
    const older = old.get(publicId)
    if (!older || older.until <= clock()) return undefined
    keep(publicId, older)
    return older.id
  }

  return {
    findCached: known,
    find(publicId) {
      const id = known(publicId)
      if (id !== undefined) return id
      if (!WELL_FORMED.test(publicId)) return null
      let answer = asking.get(publicId)
      if (!answer) {
        answer = ask(publicId).finally(() => asking.delete(publicId))
        asking.set(publicId, answer)
      }
      return answer
    },
    invalidate(workspaceId) {
      changes++
      for (const names of [young, old])
        for (const [publicId, { id }] of names) if (id === workspaceId) names.delete(publicId)
    },
  }
}
