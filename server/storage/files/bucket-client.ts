// Client of an S3-compatible bucket, with AWS Signature Version 4. Bun's own S3 client is not used, because it adds
// AWS_SESSION_TOKEN of the environment to the operator's keys, and has no time limits.

import { AwsV4Signer } from 'aws4fetch'
import type { StoredFile } from './file-store.ts'

export interface UploadBucket {
  /** `https://s3.eu-central-1.amazonaws.com` */
  endpoint: string
  bucket: string
  /** The prefix of each key, without slashes at its ends; '' for none. */
  prefix: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** The bucket cannot be reached, or refuses a request. The message has no secret. */
export class BucketError extends Error {
  override name = 'BucketError'
}

interface PutFile {
  path: string
  bytes: number
  /** The bucket compares it with the received body. */
  sha256: string
}

interface BucketRequest {
  method: string
  /** After the endpoint, with its query. */
  path: string
  headers?: Record<string, string>
  /** Opens the body, again for each attempt. */
  openBody?: () => ReadableStream<Uint8Array>
  timeoutMs: number
  /** Statuses that are not errors. */
  expected: number[]
}

const TIMEOUT_MS = 15_000
/** A slower bucket counts as unavailable. */
const SLOWEST_BYTES_PER_SECOND = 256 * 1024
/** S3 sometimes answers 500 and 503 and expects the same request again. All our requests are safe to repeat. */
const PAUSES_MS = [100, 400]
/** The SHA-256 of an empty body. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const ERROR_CODE = /<Code>([A-Za-z0-9]{1,60})<\/Code>/

export function createBucketClient(
  bucket: UploadBucket,
  { timeoutMs = TIMEOUT_MS, filesOfPage = 1000 }: { timeoutMs?: number; filesOfPage?: number } = {},
) {
  const closing = new AbortController()
  const send = (request: Omit<BucketRequest, 'timeoutMs'> & { timeoutMs?: number }) =>
    sendToBucket(bucket, { timeoutMs, ...request }, closing.signal)
  const prefix = bucket.prefix === '' ? '' : `${bucket.prefix}/`
  const toPath = (key: string) => `/${bucket.bucket}/${prefix}${key}`
  return {
    async put(key: string, { path, bytes, sha256 }: PutFile): Promise<void> {
      const headers = {
        'Content-Length': String(bytes),
        'Content-Type': 'application/octet-stream',
        'X-Amz-Content-Sha256': sha256,
      }
      const limit = timeoutMs + (bytes / SLOWEST_BYTES_PER_SECOND) * 1000
      const openBody = bytes === 0 ? undefined : () => Bun.file(path).stream()
      await drain(
        await send({
          method: 'PUT',
          path: toPath(key),
          headers,
          openBody,
          expected: [200],
          timeoutMs: limit,
        }),
      )
    },
    async read(key: string, range?: { start: number; end: number }) {
      const headers: Record<string, string> = range ? { Range: `bytes=${range.start}-${range.end - 1}` } : {}
      const response = await send({ method: 'GET', path: toPath(key), headers, expected: [200, 206, 404] })
      const body = response.body ?? new Blob([]).stream()
      if (response.status !== 404)
        return range ? body.pipeThrough(cutOut(range, response.status === 206 ? range.start : 0)) : body
      // An unknown bucket is 404 too.
      await throwUnlessKeyIsMissing(response)
    },
    async delete(key: string): Promise<void> {
      const response = await send({ method: 'DELETE', path: toPath(key), expected: [200, 204, 404] })
      if (response.status === 404) await throwUnlessKeyIsMissing(response)
      else await drain(response)
    },
    async *list(fromDay = ''): AsyncGenerator<StoredFile> {
      let after = prefix + fromDay
      for (let isLast = false; !isLast; ) {
        const page = { 'list-type': '2', 'max-keys': String(filesOfPage), prefix, 'start-after': after }
        const path = `/${bucket.bucket}?${new URLSearchParams(page)}`
        const response = await send({ method: 'GET', path, expected: [200] })
        const { files, isTruncated } = parseBucketPage(await response.text())
        for (const file of files) yield { ...file, key: file.key.slice(prefix.length) }
        after = files.at(-1)?.key ?? ''
        isLast = !isTruncated || after === ''
      }
    },
    close: () => closing.abort(),
  }
}

/** A server may ignore the range (RFC 9110 §14.2), and s3rver ignores an end of 0. @param at where the body starts */
function cutOut({ start, end }: { start: number; end: number }, at: number) {
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const part = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at))
      at += chunk.byteLength
      if (part.byteLength > 0) controller.enqueue(part)
      if (at >= end) controller.terminate()
    },
  })
}

/** @throws BucketError */
async function sendToBucket(
  bucket: UploadBucket,
  request: BucketRequest,
  closing: AbortSignal,
): Promise<Response> {
  for (const pauseMs of [...PAUSES_MS, undefined]) {
    const response = await attemptRequest(bucket, request, closing)
    if (request.expected.includes(response.status)) return response
    const refusal = toRefusal(response.status, await response.text().catch(() => ''))
    if (response.status < 500 || pauseMs === undefined) throw refusal
    await Bun.sleep(pauseMs)
  }
  throw new BucketError('The bucket for uploads was not asked')
}

async function attemptRequest(
  bucket: UploadBucket,
  { method, path, headers = {}, openBody, timeoutMs }: BucketRequest,
  closing: AbortSignal,
): Promise<Response> {
  const signed = await new AwsV4Signer({
    method,
    url: bucket.endpoint + path,
    headers: { 'X-Amz-Content-Sha256': EMPTY_SHA256, ...headers },
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey,
    region: bucket.region,
    service: 's3',
  }).sign()
  // The limit is for the answer's head only, because a visitor can take long for the file after it.
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeoutMs)
  const signal = AbortSignal.any([closing, limit.signal])
  const init = { method, headers: signed.headers, body: openBody?.(), redirect: 'manual', signal } as const
  return fetch(signed.url, init)
    .catch((cause) => {
      const what = limit.signal.aborted ? 'did not answer in time' : 'could not be reached'
      throw new BucketError(`The bucket for uploads ${what}`, { cause })
    })
    .finally(() => clearTimeout(timer))
}

function toRefusal(status: number, text: string): BucketError {
  const code = ERROR_CODE.exec(text)?.[1]
  return new BucketError(`The bucket for uploads answered ${status}${code ? ` (${code})` : ''}`)
}

async function throwUnlessKeyIsMissing(response: Response): Promise<undefined> {
  const text = await response.text()
  const code = ERROR_CODE.exec(text)?.[1]
  if (code !== undefined && code !== 'NoSuchKey') throw toRefusal(response.status, text)
}

const drain = async (response: Response) => void (await response.text())

const OBJECT = /<Contents>([\s\S]*?)<\/Contents>/g
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

interface BucketPage {
  files: StoredFile[]
  /** More files follow. */
  isTruncated: boolean
}

/**
 * Reads one page of a bucket's list (ListObjectsV2). It can contain keys of other programs, which are left out.
 * @throws if the text is not such a page
 */
function parseBucketPage(xml: string): BucketPage {
  if (!xml.includes('<ListBucketResult')) throw new Error('The bucket for uploads does not answer as S3 does')
  const files = Array.from(xml.matchAll(OBJECT), ([, object = '']) => ({
    key: readElement(object, 'Key') ?? '',
    bytes: Number(readElement(object, 'Size') ?? 0),
    at: Date.parse(readElement(object, 'LastModified') ?? ''),
  }))
  return { files, isTruncated: readElement(xml, 'IsTruncated') === 'true' }
}

function readElement(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text?.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (whole, name, decimal, hex) => {
      if (name) return ENTITIES[name.toLowerCase()] ?? whole
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
