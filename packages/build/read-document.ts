// Reads the OpenAPI document from this checkout's server, which runs for that moment on an empty directory.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SdkDocument } from './generate-client.ts'

const WAIT_MS = 60_000

export async function readDocument(): Promise<SdkDocument> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-sdk-'))
  const port = await findPort()
  const { PATH, HOME } = process.env
  const server = Bun.spawn([process.execPath, join(import.meta.dir, '../../server/main.ts')], {
    env: { PATH, HOME, PORT: String(port), HOST: '127.0.0.1', DATA_DIR: dataDir, DISK_RESERVE_MB: '0' },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  try {
    const until = performance.now() + WAIT_MS
    while (performance.now() < until && server.exitCode === null) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/openapi.json`).catch(() => undefined)
      if (answer?.ok) return (await answer.json()) as SdkDocument
      await Bun.sleep(100)
    }
    throw new Error('the server, which describes the API, did not start')
  } finally {
    server.kill()
    await server.exited
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
