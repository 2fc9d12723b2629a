// Gathers what the routes of /v1 need.

import type { Config } from '../config/config.ts'
import { VERSION } from '../config/version.ts'
import { createAccessRecheck } from '../features/accounts/access/recheck-access.ts'
import { mailOwners, type OwnersMail } from '../features/accounts/workspaces/mail-owners.ts'
import type { Doctor } from '../features/doctor/report/doctor.ts'
import { createPersonHashers } from '../features/forms/erasure/erasure-receipt.ts'
import type { ImportService } from '../features/transfer/import/open-imports.ts'
import { prepareScratchDirectory } from '../storage/export-directory.ts'
import type { ApiNeeds } from '../web/api.ts'
import type { CommonParts } from './common-parts.ts'
import type { Notify } from './notify.ts'
import type { PublicEndpoints } from './public-endpoints.ts'

interface ApiParts extends CommonParts, PublicEndpoints {
  imports: ImportService
  notify: Notify
  doctor: Doctor
}

/** Everything that the routes of /v1 need. */
export function createApiNeeds(config: Config, parts: ApiParts): ApiNeeds {
  const { db, now, site, sendMail, notify, uploads, imports } = parts
  return {
    ...config,
    ...createVerificationNeeds(parts),
    ...parts.forms,
    ...notify.api,
    ...notify.teamReplies,
    ...imports,
    ...createPersonHashers(config.secret),
    version: VERSION,
    members: { trustProxy: config.trustProxy, add: parts.traffic.addMember },
    allow: config.webhookAllow,
    hasFavicons: config.favicons,
    sync: parts.destinationSync,
    defaultDomain: site.domain,
    scratchDir: prepareScratchDirectory(config.dataDir),
    fileStore: uploads.store,
    recheckAccess: createAccessRecheck({ db, now, origin: config.origin }),
    wakeDeliverer: notify.wake,
    canMail: sendMail !== undefined,
    // The workers of this machine share its directory.
    canStoreFiles: () => uploads.store.isShared || parts.cluster.countOthers() < config.workers,
    turnstile: config.turnstile !== undefined,
    node: parts.spool.node,
  }
}

/** Dependencies of a domain's DNS check, in the API and in the daily job. */
export const createVerificationNeeds = <Parts extends CommonParts>(shared: Parts) => ({
  ...shared,
  mailOwners: (workspaceId: number, mail: OwnersMail) => mailOwners(shared, workspaceId, mail),
})
