// Opens what pages on other sites use: the form endpoint, and the intake of the snippet.

import type { Config } from '../config/config.ts'
import { createStorageLimit } from '../features/accounts/abuse/storage-limit.ts'
import { createVisitMatcher } from '../features/attribution/match-visit.ts'
import { createTouchRecorder } from '../features/attribution/record-touches.ts'
import { createSenderDescriber } from '../features/attribution/sender.ts'
import { openAttemptCounter } from '../features/forms/attempts/attempt-counter.ts'
import { createCaptchaProvider } from '../features/forms/captcha/create-captcha-provider.ts'
import { createFormStorageLimits } from '../features/forms/endpoint/storage-limits.ts'
import { createStoreTogether } from '../features/forms/endpoint/store-together.ts'
import { createTestTokens } from '../features/forms/endpoint/test-tokens.ts'
import { createSpamJudge } from '../features/forms/spam/judge-spam.ts'
import { createSpamLearner } from '../features/forms/spam/learn-spam.ts'
import { createWorkspaceSpamCache } from '../features/forms/spam/workspace-spam.ts'
import { createOwnHosts } from '../features/links/names/own-hosts.ts'
import { createEventIds } from '../features/tracking/event-id.ts'
import { createWorkspaceLookup } from '../features/tracking/workspace-lookup.ts'
import { toDomainOrigin } from '../lib/web-url.ts'
import type { CommonParts } from './common-parts.ts'
import type { Notify } from './notify.ts'

/** Opens what pages on other sites use: the form endpoint, and the intake of the snippet. */
export function openPublicEndpoints(config: Config, shared: CommonParts, notify: Notify) {
  const { db, site, clickIds, getSalt, geo, freshness, now } = shared
  const { secret, origin, trustProxy, turnstile, intakePath } = config
  const captcha = createCaptchaProvider({ secret, turnstile, now })
  const ownHosts = createOwnHosts(shared)
  const ids = createEventIds(secret)
  const workspaces = createWorkspaceLookup(db, freshness)
  const attempts = openAttemptCounter({ db, now })
  const limits = createStorageLimits(config, shared)
  const spam = createWorkspaceSpamCache(db, secret)
  const testTokens = createTestTokens(secret)
  return {
    captcha,
    spam: { ...spam, ...createSpamLearner(secret, spam) },
    attempts,
    testTokens,
    ...limits,
    workspaces,
    forms: {
      ...shared,
      toOrigin: (domain: string) => toDomainOrigin(origin, domain),
      trustProxy,
      captcha,
      attempts,
      testTokens,
      submissionLimit: limits.submissionLimit,
      uploadLimit: limits.uploadLimit,
      uploadBytesPerWorkspace: config.uploadBytesPerWorkspace,
      isBlocked: site.isBlocked,
      describeSender: createSenderDescriber({ geo, getSalt }),
      matchVisit: createVisitMatcher({ clickIds, eventIds: ids, ownHosts }),
      recordTouches: createTouchRecorder(shared),
      storeTogether: createStoreTogether(db),
      wakeDeliverer: notify.wake,
      judgeSpam: createSpamJudge(spam),
      replies: notify.replies,
      replyLinks: notify.replyLinks,
    },
    formInfo: { db, captcha },
    intake: {
      ...shared,
      ...limits,
      path: intakePath,
      eventIds: ids,
      workspaces,
      ownHosts,
      trustProxy,
    },
  }
}

export type PublicEndpoints = ReturnType<typeof openPublicEndpoints>

/** Limits on what strangers may store. */
function createStorageLimits(config: Config, shared: CommonParts) {
  const { clock } = shared
  return {
    ...createFormStorageLimits(shared, config, clock),
    pageViewLimit: createStorageLimit({ kind: 'page_views', perWorkspace: config.pageViewsPerDay, clock }),
  }
}
