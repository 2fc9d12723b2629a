import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testFileStore } from '../../../tests/contracts/file-store.ts'
import { type BucketServer, startBucketServer } from '../../../tests/support/processes/bucket-server.ts'
import { full } from '../../../tests/support/suite.ts'
import { openS3Store } from './s3-store.ts'

let server: BucketServer
let root: string
let opened = 0
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'towpath-s3-'))
  server = await startBucketServer()
})
afterAll(async () => {
  await server.close()
  rmSync(root, { recursive: true, force: true })
})

/** Each store has a folder of its own in the bucket. */
function openStore(now: () => number, prefix = `store-${++opened}`, bucket = server.bucket) {
  const draftsDir = join(root, `drafts-${opened}`)
  return openS3Store({ owner: 'aaaaaaaa', bucket: { ...bucket, prefix }, draftsDir, now, filesOfPage: 3 })
}

testFileStore('in a bucket', async (now) => {
  const store = await openStore(now)
  return { store, close: () => store.close() }
})

const NOW = Date.parse('2026-06-10T12:00:00Z')

describe('the file store in a bucket', () => {
  test('a file is in the bucket only once all of it is there, and its draft is gone from the disk then', async () => {
    const store = await openStore(() => NOW)
    const drafts = join(root, `drafts-${opened}`)
    const draft = await store.create()
    await draft.write(new Uint8Array(6 * 1024 * 1024))
    expect(await Array.fromAsync(store.list())).toEqual([])
    expect(readdirSync(drafts)).toHaveLength(1)
    await draft.commit()
    expect((await Array.fromAsync(store.list())).map(({ key, bytes }) => [key, bytes])).toEqual([
      [draft.key, 6 * 1024 * 1024],
    ])
    expect(readdirSync(drafts)).toEqual([])
  })

  test('drafts of a crash are gone after the next start', async () => {
    const store = await openStore(() => NOW)
    const drafts = join(root, `drafts-${opened}`)
    await store.close()
    writeFileSync(join(drafts, 'a'.repeat(32)), 'half of a fi')
    await openS3Store({ owner: 'aaaaaaaa', bucket: server.bucket, draftsDir: drafts, now: () => NOW })
    expect(readdirSync(drafts)).toEqual([])
  })

  test('lists more files than one page has', async () => {
    const store = await openStore(() => NOW)
    const files: string[] = []
    for (let i = 0; i < 7; i++) {
      const draft = await store.create()
      await draft.commit()
      files.push(draft.key)
    }
    const listed = await Array.fromAsync(store.list())
    expect(listed.map(({ key }) => key)).toEqual(files.sort())
  })

  test('files of others in the same bucket are neither listed nor deleted', async () => {
    const other = await openStore(() => NOW, 'other')
    const draft = await other.create()
    await draft.commit()
    const store = await openStore(() => NOW, 'own')
    expect(await Array.fromAsync(store.list())).toEqual([])
    await store.delete(draft.key)
    expect(await Array.fromAsync(other.list())).toHaveLength(1)
  })

  test('a wrong key and a missing bucket are errors with a sentence that names no secret', async () => {
    const wrongKey = await openStore(() => NOW, 'x', {
      ...server.bucket,
      accessKeyId: 'wrong',
      secretAccessKey: 'wrong-secret',
    })
    const missing = await openStore(() => NOW, 'x', { ...server.bucket, bucket: 'no-such-bucket' })
    for (const [store, why] of [
      [wrongKey, /answered 403 \(InvalidAccessKeyId\)/],
      [missing, /answered 404 \(NoSuchBucket\)/],
    ] as const) {
      const key = `2026-06-10/${'a'.repeat(32)}`
      const failures = await Promise.all(
        [
          store.create().then((draft) => draft.commit().finally(draft.discard)),
          store.read(key),
          store.delete(key),
          Array.fromAsync(store.list()),
        ].map((work) => work.then(() => '', String)),
      )
      for (const failure of failures) {
        expect(failure).toMatch(why)
        expect(failure).not.toContain('wrong-secret')
      }
    }
  })

  test('a bucket that does not answer is given up, and the draft can be discarded', async () => {
    const silent = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Promise<Response>(() => {}) })
    try {
      const bucket = { ...server.bucket, endpoint: `http://127.0.0.1:${silent.port}` }
      const draftsDir = join(root, 'silent')
      const store = await openS3Store({ owner: 'aaaaaaaa', bucket, draftsDir, now: () => NOW, timeoutMs: 50 })
      const draft = await store.create()
      await draft.write(new Uint8Array(10))
      expect(await draft.commit().catch(String)).toContain('did not answer in time')
      await draft.discard()
      expect(readdirSync(draftsDir)).toEqual([])
    } finally {
      await silent.stop(true)
    }
  })

  full(
    'twenty uploads at once take little memory',
    async () => {
      const store = await openStore(() => NOW)
      const chunk = new Uint8Array(256 * 1024).fill(1)
      Bun.gc(true)
      const before = process.memoryUsage().rss
      let peak = 0
      const watch = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage().rss)
      }, 10)
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const draft = await store.create()
          for (let i = 0; i < 40; i++) await draft.write(chunk)
          await draft.commit()
          await draft.discard()
        }),
      )
      clearInterval(watch)
      expect((peak - before) / (1024 * 1024)).toBeLessThan(100)
    },
    60_000,
  )
})
