import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { createHit } from '../../../../tests/contracts/hit-engine.ts'
import { readBatchBody, readBatchExtent } from './batch-body.ts'

const directory = mkdtempSync(join(tmpdir(), 'batches-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const write = (name: string, content: string | Uint8Array) => {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

// Larger than what is read at once, and with characters of several bytes.
const hits = Array.from({ length: 6000 }, (_, n) =>
  createHit({ at: 1000 + (n % 7), workspaceId: n % 3, city: '北京'.repeat(40) }),
)
const lines = hits.map((hit) => `${JSON.stringify(hit)}\n`).join('')
const compressed = zstdCompressSync(lines)

test('a body has the lines of the batch, whether its file is compressed or not', async () => {
  const bodies = [
    await readBatchBody(write('1.ndjson', lines)),
    await readBatchBody(write('1.ndjson.zst', compressed)),
    await readBatchBody(write('empty.ndjson', '')),
  ]
  expect(bodies.map((body) => zstdDecompressSync(body).toString() === lines)).toEqual([true, true, false])
  expect(zstdDecompressSync(bodies[2] as Uint8Array)).toHaveLength(0)
})

test.each([
  ['without its last byte', compressed.subarray(0, -1)],
  ['with half of its bytes', compressed.subarray(0, compressed.length / 2)],
  ['without any byte that is its own', new Uint8Array(100)],
])('a compressed batch %s is an error, before anything is sent', async (_, content) => {
  await expect(readBatchBody(write('torn.ndjson.zst', content))).rejects.toThrow()
  await expect(readBatchExtent(write('torn.ndjson.zst', content), 0)).rejects.toThrow()
})

test('a missing file is an error', async () => {
  for (const name of ['none.ndjson', 'none.ndjson.zst']) {
    await expect(readBatchBody(join(directory, name))).rejects.toThrow('ENOENT')
    await expect(readBatchExtent(join(directory, name), 0)).rejects.toThrow('ENOENT')
  }
})

test('an extent knows the hits of the batch, but for those recorded too long ago', async () => {
  for (const path of [write('2.ndjson', lines), write('2.ndjson.zst', compressed)])
    expect(await readBatchExtent(path, 1003)).toEqual({
      ids: hits.filter(({ at }) => at >= 1003).map(({ id }) => id),
      times: { first: 1003, last: 1006 },
      workspaceIds: new Set([0, 1, 2]),
    })
})

test('a file without line ends is no batch', async () => {
  await expect(readBatchExtent(write('3.ndjson', 'x'.repeat(3_000_000)), 0)).rejects.toThrow('too long')
})
