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
const newWorkspace = () => createWorkspace({ db, now: Date.now }, { name: 'Test', plan: 'pro' })

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
})
