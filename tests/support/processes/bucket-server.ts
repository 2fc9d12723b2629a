// Starts a real S3 server (s3rver) with one empty bucket, in a process of its own.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UploadBucket } from '../../../server/storage/files/bucket-client.ts'
import { until } from '../until.ts'
import { findFreePort } from './free-port.ts'
import { createProcessGuard } from './process-guard.ts'

export interface BucketServer {
  bucket: UploadBucket
  /** The bucket as UPLOADS_S3_URL names it. */
  url: string
  /** Ends the server and keeps its files, as an outage does. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  close(): Promise<void>
}

const NAME = 'uploads'
const KEY = 'S3RVER'

export async function startBucketServer(): Promise<BucketServer> {
  const directory = mkdtempSync(join(tmpdir(), 'towpath-bucket-'))
  const guard = createProcessGuard(directory)
  const port = findFreePort()
  const endpoint = `http://127.0.0.1:${port}`
  const program = join(import.meta.dir, '../../../node_modules/s3rver/bin/s3rver.js')
  const options = ['-d', directory, '-a', '127.0.0.1', '-p', String(port), '--no-vhost-buckets', '-s']
  let child: Bun.Subprocess | undefined

  async function start() {
    // It makes its tokens of pages with a cipher that OpenSSL has put aside.
    const command = ['node', '--openssl-legacy-provider', program, ...options, '--configure-bucket', NAME]
    const started = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
    child = started
    guard.watch(started.pid)
    const answers = () =>
      fetch(endpoint).then(
        () => true,
        () => started.exitCode !== null,
      )
    await until('the S3 server', answers)
    if (started.exitCode !== null) throw new Error('The S3 server did not start')
  }

  async function stop() {
    child?.kill('SIGKILL')
    await child?.exited
    guard.watch(undefined)
  }

  await start()
  const bucket = {
    endpoint,
    bucket: NAME,
    prefix: '',
    region: 'us-east-1',
    accessKeyId: KEY,
    secretAccessKey: KEY,
  }
  return {
    bucket,
    url: `http://${KEY}:${KEY}@127.0.0.1:${port}/${NAME}`,
    stop,
    start,
    async close() {
      await stop()
      await guard.end()
    },
  }
}
