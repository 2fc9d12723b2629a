import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testFileStore } from '../../../tests/contracts/file-store.ts'
import { openDirectoryStore } from './directory-store.ts'

const dirs: string[] = []
const newDir = () => {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-files-'))
  dirs.push(dir)
  return join(dir, 'uploads')
}
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

testFileStore('in a directory', async (now) => {
  const store = await openDirectoryStore({ owner: 'aaaaaaaa', dir: newDir(), now })
  return { store, close: () => store.close() }
})

const NOW = Date.parse('2026-06-10T12:00:00Z')
const permissions = (path: string) => statSync(path).mode & 0o777

test('only the owner may read the directory, its folders and its files', async () => {
  const dir = newDir()
  const store = await openDirectoryStore({ owner: 'aaaaaaaa', dir, now: () => NOW })
  const draft = await store.create()
  expect(permissions(join(dir, `${draft.key}.draft`))).toBe(0o600)
  await draft.commit()
  const modes = [dir, join(dir, '2026-06-10'), join(dir, draft.key)].map(permissions)
  expect(modes).toEqual([0o700, 0o700, 0o600])
})

test('a draft that a crash left behind is listed, and can be deleted', async () => {
  const dir = newDir()
  const store = await openDirectoryStore({ owner: 'aaaaaaaa', dir, now: () => NOW })
  const { key, discard } = await store.create()
  const again = await openDirectoryStore({ owner: 'aaaaaaaa', dir, now: () => NOW })
  const [found, ...more] = await Array.fromAsync(again.list())
  expect([found?.key, more]).toEqual([`${key}.draft`, []])
  await again.delete(`${key}.draft`)
  expect(await Array.fromAsync(again.list())).toEqual([])
  await discard()
})

test('does not list or delete what is not its own', async () => {
  const dir = newDir()
  const store = await openDirectoryStore({ owner: 'aaaaaaaa', dir, now: () => NOW })
  writeFileSync(join(dir, 'notes.txt'), 'of the operator')
  expect(await Array.fromAsync(store.list())).toEqual([])
  await store.delete('notes.txt')
  expect(readdirSync(dir)).toEqual(['notes.txt'])
})

test('an empty folder of an earlier day goes with its last file', async () => {
  const dir = newDir()
  let now = NOW
  const store = await openDirectoryStore({ owner: 'aaaaaaaa', dir, now: () => now })
  const draft = await store.create()
  await draft.commit()
  now += 24 * 60 * 60 * 1000
  await store.delete(draft.key)
  expect(existsSync(join(dir, '2026-06-10'))).toBe(false)
  const next = await store.create()
  await next.commit()
  expect(await new Response(await store.read(next.key)).text()).toBe('')
})
