// Frees the memory of a large buffer at once. The garbage collector notices the size of buffers too late: with
// twenty concurrent uploads, hundreds of megabytes would wait for it.

/** The bytes must be a whole buffer that nobody uses any more. A view of a part of a buffer is left alone. */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
