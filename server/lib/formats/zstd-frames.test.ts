import { expect, test } from 'bun:test'
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { areWholeZstdFrames } from './zstd-frames.ts'

const compressStream = async (data: Uint8Array): Promise<Buffer> => {
  const stream = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } })
  stream.end(data)
  return Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>))
}
/** Text, noise and repetition, which zstd stores in different kinds of blocks. */
const someData = fc.oneof(
  fc.uint8Array({ maxLength: 2000 }),
  fc.nat(300_000).map((length) => new Uint8Array(length).fill(65)),
  fc.nat(40_000).map((length) => Buffer.from('{"id":1,"at":17}\n'.repeat(length / 17))),
)

test('frames are whole, in one piece, as a stream, and one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someData, { minLength: 1, maxLength: 3 }), async (pieces) => {
      const whole = Buffer.concat(pieces.map((piece) => zstdCompressSync(piece)))
      const streamed = Buffer.concat(await Promise.all(pieces.map(compressStream)))
      expect([areWholeZstdFrames(whole), areWholeZstdFrames(streamed)]).toEqual([true, true])
    }),
    { numRuns: 50 },
  )
})

test('a frame that ends too early, or has something behind it, is not whole', async () => {
  await fc.assert(
    fc.asyncProperty(someData, fc.nat(), async (data, cut) => {
      for (const whole of [zstdCompressSync(data), await compressStream(data)]) {
        expect(areWholeZstdFrames(whole.subarray(0, cut % whole.length))).toBe(false)
        expect(areWholeZstdFrames(whole.subarray(0, -1))).toBe(false)
        expect(areWholeZstdFrames(Buffer.concat([whole, Buffer.from([0])]))).toBe(false)
      }
    }),
    { numRuns: 50 },
  )
})

test('frames without data are passed over; other data are no frames', () => {
  const skipped = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9])
  expect(areWholeZstdFrames(Buffer.concat([skipped, zstdCompressSync('x')]))).toBe(true)
  for (const other of ['', '{"id":1}\n', 'x'.repeat(100)])
    expect(areWholeZstdFrames(Buffer.from(other))).toBe(false)
})
