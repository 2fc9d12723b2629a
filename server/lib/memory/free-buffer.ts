// Frees the memory of a large buffer immediately. The garbage collector reacts too late to the size of buffers:
// twenty concurrent uploads would hold hundreds of megabytes.

/** The bytes must be a whole buffer that nobody uses any more. A view of a part of a buffer is left alone. */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
