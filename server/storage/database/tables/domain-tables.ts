// The domains of workspaces: their proof of ownership, and their answers apart from links.

import type { Generated } from 'kysely'

export interface Domains {
  id: Generated<number>
  workspace_id: number
  /** In ASCII form (IDNA), lower case, without a port and without a dot at its end. */
  domain: string
  /** The value of the TXT record that proves the ownership. */
  token: string
  /**
   * The time from which the domain answers; null before that, and after the ownership was lost. A name is verified in one
   * workspace at most.
   */
  verified_at: number | null
  /** The last DNS check that got an answer. */
  checked_at: number | null
  /** The first of the current series of failed checks of a verified domain; null after a check that passed. */
  failing_since: number | null
  /** Why the last check failed, as a sentence for its owners. */
  problem: string | null
  /**
   * The results of the last check: the TXT record, and the record that leads visitors here. Null if the check was
   * inconclusive.
   */
  proof_ok: number | null
  route_ok: number | null
  /** 1 for the domain of new links: at most one of a workspace. */
  is_primary: number
  /** Chosen at creation: `slug_key` of its links keeps its case. */
  case_sensitive: number
  root_url: string | null
  not_found_url: string | null
  expired_url: string | null
  /** JSON as it is served: `/.well-known/assetlinks.json`. */
  asset_links: string | null
  /** The same for `/.well-known/apple-app-site-association`. */
  apple_app_site_association: string | null
  created_at: number
  updated_at: number
}
