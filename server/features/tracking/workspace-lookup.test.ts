import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseHandle, openDatabase } from '../../storage/database/open-database.ts'
import { createWorkspace } from '../accounts/workspaces/create-workspace.ts'
import { createWorkspaceLookup } from './workspace-lookup.ts'

let db: DatabaseHandle
let asked = 0
const dataDir = mkdtempSync(join(tmpdir(), 'towpath-names-'))
beforeAll(async () => {
  db = await openDatabase({ dataDir, databaseUrl: undefined })
})
afterAll(async () => {
  await db.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** The real rows, with the questions counted. */
const counting = () => {
  asked = 0
  return {
    read: new Proxy(db.read, {
      get(target, name) {
        if (name === 'selectFrom') asked++
        const value = target[name as keyof typeof target]
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value
      },
    }),
  }
}
const newWorkspace = () => createWorkspace({ db, now: () => 1 }, { name: 'Test', plan: 'pro' })

describe('the public id of a workspace', () => {
  test('is queried once for parallel callers, and then found without a promise', async () => {
    const names = createWorkspaceLookup(counting())
    const { id, publicId } = await newWorkspace()
    const answers = await Promise.all(Array.from({ length: 20 }, () => names.find(publicId)))
    expect(new Set(answers)).toEqual(new Set([id]))
    expect(names.find(publicId)).toBe(id)
    expect(asked).toBe(1)
  })

  test('of no workspace is cached as missing for ten seconds', async () => {
    let clock = 0
    const names = createWorkspaceLookup(counting(), { clock: () => clock })
    const publicId = 'ws_later'
    expect(await names.find(publicId)).toBeNull()
    const { id } = await newWorkspace()
    await db.write((connection) =>
      connection.updateTable('workspaces').set({ public_id: publicId }).where('id', '=', id).execute(),
    )
    clock = 9_999
    expect(names.find(publicId)).toBeNull()
    clock = 10_000
    expect(await names.find(publicId)).toBe(id)
    clock = 1e9
    expect(names.find(publicId)).toBe(id)
    expect(asked).toBe(2)
  })

  test('that is malformed is not queried', () => {
    const names = createWorkspaceLookup(counting())
    for (const text of ['', '\0', 'a b', 'x'.repeat(65), '../', 'é'])
      expect([text, names.find(text)]).toEqual([text, null])
    expect(asked).toBe(0)
  })

  test('is invalidated with its workspace', async () => {
    const names = createWorkspaceLookup(counting())
    const { id, publicId } = await newWorkspace()
    await names.find(publicId)
    await db.write((connection) => connection.deleteFrom('workspaces').where('id', '=', id).execute())
    names.invalidate(id)
    expect(await names.find(publicId)).toBeNull()
  })

  test('is not pushed out by guesses, even while nobody uses it', async () => {
    const names = createWorkspaceLookup(counting(), { max: 10 })
    const { id, publicId } = await newWorkspace()
    await names.find(publicId)
    for (let n = 0; n < 40; n++) await names.find(`guess${n}`)
    expect(names.find(publicId)).toBe(id)
    expect(asked).toBe(41)
  })

  test('is found once its workspace is created, and a change during the query leaves nothing outdated', async () => {
    const names = createWorkspaceLookup(counting())
    expect(await names.find('ws_soon')).toBeNull()
    names.invalidate(1)
    expect(names.findCached('ws_soon')).toBeUndefined()
    const { id, publicId } = await newWorkspace()
    const reading = names.find(publicId)
    names.invalidate(id)
    expect(await reading).toBe(id)
    expect(names.findCached(publicId)).toBeUndefined()
    const other = names.find(publicId)
    names.invalidate(id + 1)
    await other
    expect(names.findCached(publicId)).toBe(id)
    names.invalidateAll()
    expect(names.findCached(publicId)).toBeUndefined()
  })

  test('is queried again where nobody follows the changes, and the known id answers where that fails', async () => {
    let clock = 0
    let followed = 0
    let down = false
    const { read } = counting()
    const failing = new Proxy(read, {
      get: (target, name) => {
        if (down) throw new Error('the database is away')
        return target[name as keyof typeof target]
      },
    })
    const options = { timeToLiveMs: 2_000, clock: () => clock, followedUntil: () => followed }
    const names = createWorkspaceLookup({ read: failing }, options)
    const { id, publicId } = await newWorkspace()
    expect(await names.find(publicId)).toBe(id)
    followed = clock = 1e9
    expect(names.find(publicId)).toBe(id)
    clock += 2_000
    expect(names.findCached(publicId)).toBeUndefined()
    down = true
    expect(await names.find(publicId)).toBe(id)
    down = false
    expect(await names.find(publicId)).toBe(id)
    expect(asked).toBe(2)
  })
})
