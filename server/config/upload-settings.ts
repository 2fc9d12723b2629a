// Settings of the upload store: a bucket, or the data directory.

import { dirname, join } from 'node:path'
import { parseIpAddress } from '../lib/parse-ip.ts'
import { parseUrl } from '../lib/web-url.ts'
import type { UploadBucket } from '../storage/files/bucket-client.ts'
import type { FileStorePlace } from '../storage/files/open-file-store.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'

export interface BucketSettings {
  /** The bucket for uploads; without it, uploads are in the data directory. */
  uploadBucket?: UploadBucket
  /** A warning at the start about the connection to the bucket; absent where it is safe. */
  uploadNotice?: string
}

/** The workers of a machine share a directory: each finds the files that another one has received. */
export const toFileStorePlace = (
  { dataDir, uploadBucket: bucket }: { dataDir: string } & BucketSettings,
  worker?: object,
): FileStorePlace => ({
  bucket,
  uploadsDir: join(worker ? dirname(dataDir) : dataDir, 'uploads'),
  draftsDir: join(dataDir, 'upload-drafts'),
})

interface InstalledUploads extends BucketSettings {
  dataDir: string
  uploadBytesPerWorkspace: number
  secret: string
  origin: string
}

/** The settings of uploads. */
export const toUploadsNeeds = (config: InstalledUploads, worker: object | undefined) => ({
  place: toFileStorePlace(config, worker),
  isAlone: !worker && !config.uploadBucket,
  bytesPerWorkspace: config.uploadBytesPerWorkspace,
  secret: config.secret,
  origin: config.origin,
})

const EXAMPLE = 'https://KEY:SECRET@s3.eu-central-1.amazonaws.com/bucket?region=eu-central-1'
const DEFAULT_REGION = 'us-east-1'

/** The messages do not repeat the URL, which has a secret. */
export function readUploads(get: GetSetting, wrong: ProblemReporter): BucketSettings {
  const text = get('UPLOADS_S3_URL')
  if (text === undefined) return {}
  const url = parseUrl(text)
  const problem = findProblem(url)
  if (problem) wrong('UPLOADS_S3_URL', ...problem)
  if (!url || problem) return {}
  const [bucket = '', ...prefix] = url.pathname.split('/').filter(Boolean)
  return {
    uploadBucket: {
      endpoint: url.origin,
      bucket,
      prefix: prefix.join('/'),
      region: url.searchParams.get('region') ?? DEFAULT_REGION,
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
    },
    ...(url.protocol === 'http:' && {
      uploadNotice: 'UPLOADS_S3_URL has http: uploads go to the bucket unencrypted.',
    }),
  }
}

type Problem = [what: string, fix: string]

function findProblem(url: URL | null): Problem | undefined {
  if (!url || !/^https?:$/.test(url.protocol) || url.hash !== '')
    return [
      'is not the address of a bucket',
      `Use ${EXAMPLE}. In KEY and SECRET, write / as %2F and + as %2B.`,
    ]
  if (!isCredential(url.username) || !isCredential(url.password))
    return ['has no key and secret', `Use ${EXAMPLE}. In KEY and SECRET, write / as %2F and % as %25.`]
  if (
    !/^\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w.-]+)*\/?$/.test(url.pathname) ||
    /\/\.\.?(\/|$)/.test(url.pathname)
  )
    return ['names no bucket', `Use ${EXAMPLE}. After the bucket, the path may have a folder.`]
  const names = [...url.searchParams.keys()]
  const region = url.searchParams.get('region') ?? DEFAULT_REGION
  if (names.some((name) => name !== 'region') || names.length > 1 || !/^[a-z0-9-]{1,40}$/.test(region))
    return [
      'has a query that is not understood',
      'Its only parameter is region, such as region=eu-central-1.',
    ]
  if (url.protocol === 'http:' && !isPrivateHost(url.hostname))
    return ['has http, so uploads could be read in transit', 'Use https. http is for private networks only.']
}

function isCredential(text: string): boolean {
  try {
    return decodeURIComponent(text) !== ''
  } catch {
    return false
  }
}

/** An address of a private network, or a name that only a private network has, such as a container's. */
function isPrivateHost(hostname: string): boolean {
  const range = parseIpAddress(hostname.replace(/^\[(.*)\]$/, '$1'))?.range()
  if (range !== undefined) return ['loopback', 'private', 'uniqueLocal', 'linkLocal'].includes(range)
  return !hostname.includes('.') || /\.(?:localhost|local|internal|svc|home\.arpa)$/.test(hostname)
}
