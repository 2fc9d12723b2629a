import { expect, test } from 'bun:test'
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { areWholeZstdFrames, readZstdFrames, toZstdFrame } from './zstd-frames.ts'

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

const read = (data: Buffer) => [...readZstdFrames(data)]

test('frames that are put together come apart with their contents', () => {
  fc.assert(
    fc.property(fc.array(someData, { maxLength: 6 }), (pieces) => {
      const data = Buffer.concat(pieces.map((piece) => toZstdFrame(piece)))
      expect(read(data).map((piece) => piece.toString('latin1'))).toEqual(
        pieces.map((piece) => Buffer.from(piece).toString('latin1')),
      )
    }),
    { numRuns: 40 },
  )
})

test('a frame with a changed byte is refused, or has the same content', () => {
  fc.assert(
    fc.property(
      fc.array(someData, { maxLength: 3 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (pieces, place, change) => {
        const data = Buffer.concat(
          [...pieces, Buffer.from('the last lines')].map((piece) => toZstdFrame(piece)),
        )
        const changed = Buffer.from(data)
        changed[place % data.length] = (changed[place % data.length] as number) ^ change
        let content: string | undefined
        try {
          content = Buffer.concat(read(changed)).toString('latin1')
        } catch {
          return
        }
        // Some bits of a header mean nothing.
        expect(content).toBe(Buffer.concat(read(data)).toString('latin1'))
      },
    ),
    { numRuns: 60 },
  )
})

test('what is cut off or has something behind it is refused', () => {
  const data = Buffer.from(toZstdFrame('lines\n'.repeat(50)))
  for (let end = 1; end < data.length; end++) expect(() => read(data.subarray(0, end))).toThrow()
  expect(() => read(Buffer.concat([data, Buffer.alloc(7)]))).toThrow()
})
