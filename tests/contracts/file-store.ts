// The contract of a file store. The test of a store calls this with a function that opens one.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { FileStore, StoredFile } from '../../server/storage/files/file-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const NOON = Date.parse('2026-06-10T12:00:00Z')

export interface StoreUnderTest {
  store: FileStore
  close(): Promise<void>
}

const toBytes = (text: string) => new TextEncoder().encode(text)

async function readAll(store: FileStore, key: string, range?: { start: number; end: number }) {
  const stream = await store.read(key, range)
  return stream && new Response(stream).text()
}

async function listAll(store: FileStore, fromDay?: string): Promise<StoredFile[]> {
  const files: StoredFile[] = []
  for await (const file of store.list(fromDay)) files.push(file)
  return files
}

/** @param open opens an empty store that takes its days from `now` */
export function testFileStore(name: string, open: (now: () => number) => Promise<StoreUnderTest>) {
  describe(`the file store ${name}`, () => {
    let under: StoreUnderTest
    let store: FileStore
    let at: number
    beforeEach(async () => {
      at = NOON
      under = await open(() => at)
      store = under.store
    })
    afterEach(() => under.close())

    async function storeFile(text: string): Promise<string> {
      const draft = await store.create()
      await draft.write(toBytes(text))
      await draft.commit()
      return draft.key
    }

    test('gives back what was written, in several chunks, under a key with the day', async () => {
      const draft = await store.create()
      for (const part of ['Hello', ', ', 'world']) await draft.write(toBytes(part))
      await draft.commit()
      expect(draft.key).toMatch(/^2026-06-10\/[0-9a-f]{32}$/)
      expect(await readAll(store, draft.key)).toBe('Hello, world')
    })

    test('does not keep the chunk: the caller may use its buffer again', async () => {
      const draft = await store.create()
      const chunk = toBytes('one')
      await draft.write(chunk)
      chunk.fill(0)
      await draft.commit()
      expect(await readAll(store, draft.key)).toBe('one')
    })

    test('stores an empty file, and one of several megabytes', async () => {
      const empty = await store.create()
      await empty.commit()
      expect(await readAll(store, empty.key)).toBe('')
      const large = await store.create()
      const mebibyte = new Uint8Array(1024 * 1024)
      for (let i = 0; i < 9; i++) await large.write(mebibyte.fill(i))
      await large.commit()
      const stream = (await store.read(large.key)) as ReadableStream<Uint8Array>
      const bytes = await new Response(stream).bytes()
      expect(bytes.length).toBe(9 * mebibyte.length)
      expect([bytes[0], bytes[5 * mebibyte.length], bytes.at(-1)]).toEqual([0, 5, 8])
    })

    test('reads a range, whose end is exclusive', async () => {
      const key = await storeFile('0123456789')
      expect(await readAll(store, key, { start: 2, end: 5 })).toBe('234')
      expect(await readAll(store, key, { start: 0, end: 1 })).toBe('0')
      expect(await readAll(store, key, { start: 9, end: 10 })).toBe('9')
    })

    test('a reader may stop in the middle', async () => {
      const key = await storeFile('x'.repeat(300_000))
      const reader = ((await store.read(key)) as ReadableStream<Uint8Array>).getReader()
      expect((await reader.read()).done).toBe(false)
      await reader.cancel()
      expect((await readAll(store, key))?.length).toBe(300_000)
    })

    test('does not show a draft before its commit, and leaves nothing of a discarded one', async () => {
      const draft = await store.create()
      await draft.write(toBytes('half'))
      expect(await store.read(draft.key)).toBeUndefined()
      await draft.discard()
      expect(await store.read(draft.key)).toBeUndefined()
      expect(await listAll(store)).toEqual([])
    })

    test('leaves nothing of a draft that is discarded after its commit, or twice', async () => {
      const draft = await store.create()
      await draft.write(toBytes('whole'))
      await draft.commit()
      await draft.discard()
      await draft.discard()
      expect(await store.read(draft.key)).toBeUndefined()
      expect(await listAll(store)).toEqual([])
    })

    test('deletes a file, and a second time without an error', async () => {
      const [gone, kept] = [await storeFile('gone'), await storeFile('kept')]
      await store.delete(gone)
      await store.delete(gone)
      expect(await readAll(store, gone)).toBeUndefined()
      expect(await readAll(store, kept)).toBe('kept')
      at += 2 * DAY_MS
      await store.delete(kept)
      expect(await listAll(store)).toEqual([])
    })

    test('a key that names no file is no file: no path leads out of the store', async () => {
      for (const key of ['', '.', '..', '../secret', '2026-06-10/../../secret', '/etc/passwd', 'a\0b']) {
        expect(await store.read(key)).toBeUndefined()
        await store.delete(key)
      }
    })

    test('lists files with their bytes, oldest day first, and from a day on', async () => {
      const late = await storeFile('later')
      at -= DAY_MS
      const early = await storeFile('sooner')
      const listed = await listAll(store)
      expect(listed.map(({ key, bytes }) => [key, bytes])).toEqual([
        [early, 6],
        [late, 5],
      ])
      // The store's own clock, not the one of the test.
      for (const file of listed) expect(Math.abs(file.at - Date.now())).toBeLessThan(5 * 60_000)
      expect((await listAll(store, '2026-06-10')).map(({ key }) => key)).toEqual([late])
      expect(await listAll(store, '2026-06-11')).toEqual([])
    })

    test('many drafts at once do not mix', async () => {
      const keys = await Promise.all(Array.from({ length: 30 }, (_, i) => storeFile(`file ${i}`)))
      expect(new Set(keys).size).toBe(30)
      expect(await Promise.all(keys.map((key) => readAll(store, key)))).toEqual(
        keys.map((_, i) => `file ${i}`),
      )
    })
  })
}
