// Gives the memory of a large buffer back at once. The garbage collector does not see how large buffers are in time: with
// twenty uploads at once it leaves hundreds of megabytes to be collected later.

/** The bytes must be a whole buffer that nobody uses any more. A view of a part of one is left alone. */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
