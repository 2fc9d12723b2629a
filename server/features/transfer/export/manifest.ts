// The manifest of a workspace's export: its files, their checksums, and the data that an export never has.

import { toIso } from '../../../lib/iso-time.ts'
import type { PartSum } from './zip-stream.ts'

export const WORKSPACE_FORMAT = 'towpath-workspace'
/** An importer refuses a format with a higher number. */
export const WORKSPACE_FORMAT_VERSION = 1
export const MANIFEST_NAME = 'manifest.json'

/** The files beside the manifest, in their order. */
export const WORKSPACE_FILES = [
  'tags.ndjson',
  'domains.ndjson',
  'channels.ndjson',
  'forms.ndjson',
  'links.ndjson',
  'attempts.ndjson',
  'submissions.ndjson',
  'misses.ndjson',
  'views.ndjson',
  'settings.ndjson',
  'utm-templates.ndjson',
  'hits.ndjson',
] as const
export type WorkspaceFileName = (typeof WORKSPACE_FILES)[number]

export interface WorkspaceManifest {
  format: typeof WORKSPACE_FORMAT
  version: number
  /** The release that wrote it. */
  product: string
  exportedAt: string
  /** The name of the server's default domain: links on it go to the default domain of another server. */
  defaultDomain: string
  /** `publicId` is the same in later exports of this workspace, so that an import recognizes its records. */
  workspace: { publicId: string; name: string; createdAt: string }
  files: PartSum[]
  /** Data that an export never has, as sentences for its owner. */
  without: string[]
}

const WITHOUT = [
  'Passwords of links: a link that had one stays closed until you set a new one.',
  'Secrets of channels (addresses of hooks, bot tokens, signing secrets): enter them again.',
  'Proofs of domains: each domain is verified again by its DNS.',
  'The brand of the workspace, and the logos of forms: set them again.',
  'Shared pages, reports and alerts of views: set them up again.',
  'Members, API keys and the audit log.',
]

export const createManifest = (
  facts: { product: string; exportedAt: number; defaultDomain: string },
  workspace: { public_id: string; name: string; created_at: number },
  files: PartSum[],
): WorkspaceManifest => ({
  format: WORKSPACE_FORMAT,
  version: WORKSPACE_FORMAT_VERSION,
  product: facts.product,
  exportedAt: toIso(facts.exportedAt),
  defaultDomain: facts.defaultDomain,
  workspace: {
    publicId: workspace.public_id,
    name: workspace.name,
    createdAt: toIso(workspace.created_at),
  },
  files,
  without: WITHOUT,
})
