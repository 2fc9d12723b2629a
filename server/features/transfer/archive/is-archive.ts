// Detects a workspace export: it is the only one of our exports that is a zip.

import { open } from 'node:fs/promises'

export async function isArchive(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return bytesRead === 4 && buffer.readUInt32BE() === 0x504b0304
  } finally {
    await file.close()
  }
}
