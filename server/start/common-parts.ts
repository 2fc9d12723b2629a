// Opens what several features share. There is exactly one of each.

import type { Config } from '../config/config.ts'
import { createMailBudget, limitMails } from '../features/accounts/abuse/mail-budget.ts'
import { createRateLimiter } from '../features/accounts/access/rate-limiter.ts'
import { createClickInference } from '../features/attribution/infer-clicks.ts'
import { createDestinationSync } from '../features/destinations/sync-destinations.ts'
import type { Uploads } from '../features/forms/uploads/uploads.ts'
import { createClickIds } from '../features/hits/click-id.ts'
import { createKeptValues } from '../features/hits/kept-values.ts'
import type { Blocklist } from '../features/links/blocklist/blocklist.ts'
import { createDestinationJudge } from '../features/links/blocklist/judge-destination.ts'
import { createLinkCache } from '../features/links/cache.ts'
import { createLastClickTeller, createLeadCrediter } from '../features/links/counting/closed-links.ts'
import { createClickLimiter } from '../features/links/counting/use-click.ts'
import { createDnsClients } from '../features/links/domains/dns-client.ts'
import { createServerAddresses } from '../features/links/domains/server-addresses.ts'
import type { Site } from '../features/links/link.ts'
import { createDomainDirectory, type DomainDirectory } from '../features/links/names/domain-directory.ts'
import { listOwnHosts } from '../features/links/names/own-hosts.ts'
import { createLiveHub } from '../features/live/live-hub.ts'
import { createTrafficDirectory } from '../features/visitors/traffic-directory.ts'
import { createMailSender } from '../http/mail/send-mail.ts'
import { createBuiltFileStore } from '../storage/built-file-store.ts'
import { createGeoLookup, type GeoLookup } from '../storage/geo.ts'
import { createFreshness } from './follow-changes.ts'
import type { Stores } from './stores.ts'

interface CommonNeeds extends Stores {
  uploads: Uploads
  site: Site
  blocklist: Blocklist
  now: () => number
  clock?: () => number
}
export type CommonParts = ReturnType<typeof createCommonParts>

/** Things that several features share. There must be exactly one of each. */
export function createCommonParts(config: Config, needs: CommonNeeds) {
  const { db, disk, spool, misses, cluster, hitWorker, getSalt, blocklist, uploads, now, clock } = needs
  const getOthersShippedUntil = cluster.getOthersShippedUntil
  const freshness = createFreshness(db.engine)
  const cache = createLinkCache(freshness)
  const domains = createDomainDirectory(db, needs.site, {
    onNewHolder(names) {
      cache.invalidateMisses()
      hitWorker.setOwnHosts(listOwnHosts(needs.site, names))
    },
  })
  const mailBudget = createMailBudget({ db, now, mailPerDay: config.mailPerDay })
  const send = createMailSender(config)
  const openDnsClient = createDnsClients(config.dnsServers)
  const hits = {
    ...hitWorker,
    countedUntil: () => Math.min(hitWorker.countedUntil(), getOthersShippedUntil()),
  }
  const site = addDomains(needs.site, domains)
  const parts = {
    db,
    disk,
    uploads,
    spool,
    misses,
    cluster,
    hits,
    keptValues: createKeptValues({ hits }),
    traffic: createTrafficDirectory({ db, getSalt, now }),
    live: createLiveHub({ db, hits, now, defaultDomain: needs.site.domain }),
    getOthersShippedUntil,
    getSalt,
    site,
    destinationSync: createDestinationSync({ db, now, site }),
    now,
    clock,
    clickLimiter: createClickLimiter(db, createLastClickTeller({ db, site, now })),
    creditLeads: createLeadCrediter({ db, site, now }),
    freshness,
    cache,
    domains,
    openDnsClient,
    serverAddresses: createServerAddresses(needs.site, openDnsClient),
    blocklist,
    isBlockedDestination: createDestinationJudge(blocklist),
    geo: createLazyGeoLookup(config.geoipDb),
    clickIds: createClickIds(config.secret, spool.node),
    limiter: createRateLimiter(db, { clock, secret: config.secret, countOthers: cluster.countOthers }),
    mailBudget,
    builtFiles: db.engine === 'postgres' ? createBuiltFileStore({ db, now }) : undefined,
    sendMail: send && limitMails(send, mailBudget),
    onlyVerified: config.signup === 'open',
  }
  return { ...parts, ...createClickInference(parts) }
}

/** No link may lead to a short link, on whatever domain: it could make a loop. */
const addDomains = (site: Site, domains: DomainDirectory): Site => ({
  ...site,
  isShortHost: (host) => site.isShortHost(host) || domains.isOwnDomain(host),
})

/** Opens the country database at the first look-up, because it takes 8 MB of memory. */
function createLazyGeoLookup(path: string | undefined): () => GeoLookup {
  let geo: GeoLookup | undefined
  return () => {
    geo ??= createGeoLookup(path)
    return geo
  }
}
