// The needs of the routes of /v1, by feature.

import type { Config } from '../config/config.ts'
import { VERSION } from '../config/version.ts'
import { createAccessRecheck } from '../features/accounts/access/recheck-access.ts'
import { mailOwners, type OwnersMail } from '../features/accounts/workspaces/mail-owners.ts'
import type { Doctor } from '../features/doctor/report/doctor.ts'
import { createPersonHashers } from '../features/forms/erasure/erasure-receipt.ts'
import type { ImportService } from '../features/transfer/import/open-imports.ts'
import { prepareScratchDirectory } from '../storage/export-directory.ts'
import type { CommonParts } from './common-parts.ts'
import type { Notify } from './notify.ts'
import type { PublicEndpoints } from './public-endpoints.ts'

interface ApiParts extends CommonParts, Pick<PublicEndpoints, 'attempts' | 'spam' | 'forms' | 'testTokens'> {
  imports: ImportService
  notify: Notify
  doctor: Doctor
}

/** The needs of the routes of /v1, by feature. */
export function createApiNeeds(config: Config, services: ApiParts) {
  const { db, limiter, hits, site, now, sendMail, mailBudget, attempts, notify, spam, testTokens } = services
  const { resolvePendingAttribution, isBlockedDestination, domains } = services
  const { origin, secret, turnstile, webhookAllow, snippetPath, defaultPlan } = config
  const analytics = { db, hits, now, defaultDomain: site.domain }
  const scratchDir = prepareScratchDirectory(config.dataDir)
  return {
    gates: {
      db,
      limiter,
      now,
      origin,
      secret,
      version: VERSION,
      members: { trustProxy: config.trustProxy, add: services.traffic.addMember },
    },
    accounts: { limiter, now, origin, snippetPath, defaultPlan, sendMail, mailBudget },
    links: { site, now },
    cards: { site, limiter, allow: webhookAllow },
    favicons: { site, allow: webhookAllow, now, hasFavicons: config.favicons },
    destinations: { site, now, sync: services.destinationSync },
    domains: createVerificationNeeds(services),
    redirects: { site, domains, now, isBlockedDestination },
    splits: { site, hits, now, resolvePendingAttribution },
    exports: {
      site,
      hits,
      fileStore: services.uploads.store,
      scratchDir,
      now,
      version: VERSION,
      resolvePendingAttribution,
    },
    analytics: { ...analytics, scratchDir },
    leads: { ...analytics, resolvePendingAttribution },
    live: { live: services.live, recheckAccess: createAccessRecheck({ db, now, origin }) },
    forms: {
      origin,
      now,
      resolvePendingAttribution,
      isBlocked: site.isBlocked,
      wakeDeliverer: notify.wake,
      creditLeads: services.creditLeads,
      spam,
      canMail: sendMail !== undefined,
      // The workers of this machine share its directory.
      canStoreFiles: () => services.uploads.store.isShared || services.cluster.countOthers() < config.workers,
    },
    erasure: {
      spam,
      origin,
      now,
      files: services.uploads.store,
      resolvePendingAttribution,
      ...createPersonHashers(secret),
    },
    submissions: { ...services.forms, origin },
    losses: { attempts, now },
    formTests: { testTokens, now },
    outcomes: { now, origin },
    views: { now, origin },
    files: { origin, resolvePendingAttribution, uploads: services.uploads },
    teamReplies: { origin, now, resolvePendingAttribution, ...notify.teamReplies },
    formCheck: { origin, turnstile: turnstile !== undefined, allow: webhookAllow },
    notify: notify.api,
    doctor: { doctor: services.doctor },
    imports: { ...services.imports, site, now, dataDir: config.dataDir, node: services.spool.node },
  }
}

/** Dependencies of a domain's DNS check, in the API and in the daily job. */
export const createVerificationNeeds = (shared: CommonParts) => ({
  ...shared,
  mailOwners: (workspaceId: number, mail: OwnersMail) => mailOwners(shared, workspaceId, mail),
})
