// Writes zips as the export of a workspace does, with whatever a stranger may put into them.

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import type { WorkspaceFileName } from '../../../server/features/transfer/export/manifest.ts'

const digest = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

/** @param changes members of the manifest that differ */
export const toManifest = (files: Record<string, string | Buffer>, changes: object = {}): string =>
  JSON.stringify({
    format: 'towpath-workspace',
    version: 1,
    product: '1.0.0',
    defaultDomain: 'go.example',
    workspace: { publicId: 'abc', name: 'Test', createdAt: '2026-01-01T00:00:00.000Z' },
    files: Object.entries(files).map(([name, text]) => ({
      name,
      records: text.toString().split('\n').length - 1,
      bytes: Buffer.byteLength(text),
      sha256: digest(text),
    })),
    ...changes,
  })

export async function packZip(entries: [string, string | Buffer][]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, text] of entries) zip.addBuffer(Buffer.from(text), name)
  zip.end()
  return buffer(zip.outputStream as Readable)
}

type Records = Partial<Record<WorkspaceFileName, object[]>>

/** @param files of submissions, by their paths below `files/` */
export function packArchive(
  records: Records,
  files: Record<string, Buffer> = {},
  manifest: object = {},
): Promise<Buffer> {
  const texts = Object.fromEntries(
    Object.entries(records).map(([name, list]) => [
      name,
      list.map((record) => `${JSON.stringify(record)}\n`).join(''),
    ]),
  )
  const packed = Object.entries(files).map(([path, bytes]): [string, Buffer] => [`files/${path}`, bytes])
  return packZip([...Object.entries(texts), ['manifest.json', toManifest(texts, manifest)], ...packed])
}

const AT = '2026-01-01T00:00:00.000Z'

/** A form as an export has it. */
export const toFormRecord = (formKey: string, changes: object = {}) => ({
  formKey,
  name: 'Contact',
  enabled: true,
  requiredFields: [],
  redirectUrl: null,
  pageUrl: null,
  afterSubmit: 'referer',
  onError: 'referer',
  captcha: false,
  successMessage: null,
  allowedOrigins: [],
  perAddress: null,
  nextHosts: [],
  channelIds: [],
  uploads: null,
  reply: null,
  spam: null,
  spamRetentionDays: 30,
  rules: null,
  messages: null,
  retentionDays: null,
  consent: null,
  createdAt: AT,
  updatedAt: AT,
  ...changes,
})

/** A link as an export has it. */
export const toLinkRecord = (id: number, slug: string, changes: object = {}) => ({
  id,
  slug,
  domain: 'go.example',
  destinationUrl: 'https://example.com/',
  title: null,
  comments: null,
  tags: [],
  externalId: null,
  archived: false,
  startsAt: null,
  expiresAt: null,
  expiredUrl: null,
  clickLimit: null,
  leadLimit: null,
  passwordProtected: false,
  forwardQuery: false,
  trackConversions: true,
  geoTargeting: {},
  deviceTargeting: {},
  redirectStatus: 302,
  previewTitle: null,
  previewDescription: null,
  previewImage: null,
  clicks: 0,
  leads: 0,
  lastClickedAt: null,
  createdAt: AT,
  updatedAt: AT,
  clicksUsed: 0,
  deletedAt: null,
  purgedAt: null,
  ...changes,
})

/** A submission as an export has it. */
export const toSubmissionRecord = (id: number, formKey: string, changes: object = {}) => ({
  id,
  formKey,
  fields: [['email', `${id}@example.com`]],
  status: 'new',
  notes: null,
  email: `${id}@example.com`,
  duplicateOf: null,
  visitor: null,
  linkId: null,
  clickId: null,
  eventId: null,
  sessionLinked: false,
  attribution: 'none',
  referrer: null,
  pageUrl: null,
  landingUrl: null,
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
  device: null,
  browser: null,
  os: null,
  country: null,
  region: null,
  city: null,
  createdAt: AT,
  files: [],
  touches: [],
  ...changes,
})

/** The key of a packed file. */
export const toPackedPath = (number: number) => `2026-01-01/${number.toString(16).padStart(32, '0')}`

/** A file of a submission, as its record describes it. */
export const toFileRecord = (path: string, content: Buffer, changes: object = {}) => ({
  field: 'file',
  name: 'file.bin',
  bytes: content.length,
  sha256: digest(content),
  path,
  ...changes,
})
