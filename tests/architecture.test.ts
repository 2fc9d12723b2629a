// Holds this repository to the rules of ARCHITECTURE.md. Exceptions with their reasons are listed here.
// support/architecture/find-violations.test.ts shows what each rule refuses.

import { describe, expect, test } from 'bun:test'
import { findViolations } from './support/architecture/find-violations.ts'
import { readCheckout } from './support/architecture/read-checkout.ts'
import type { RuleException } from './support/architecture/rule.ts'
import { listWorkspaceTables, TABLES } from './support/architecture/workspace-scope.ts'
import { quick } from './support/suite.ts'

const OPERATOR = 'the operator calls it on the command line, for any workspace'
const WHOLE_SERVER = 'the doctor looks at the whole server, and names no workspace but by its id'
const OWN_WORKSPACES = 'it finds all workspaces of one person'
const JOB = 'a background job has no actor and works on every workspace'
const EVERY_CHANGE = 'a process follows the changes of all workspaces'
const LINK_IN_MAIL = 'the link in the mail allows it, and its holder is no actor'
const OWN_ACCOUNT = 'it is about the person’s own account: there is no actor before somebody has signed in'
const BY_KEY = 'a sealed link names a file by its random key, and its holder is no actor'
const BEFORE_ACTOR = 'it finds the actor: the key says which workspace it belongs to'

const createException = (
  rule: RuleException['rule'],
  file: string,
  what: string,
  why: string,
): RuleException => {
  return { rule, file: `server/features/${file}`, what, why }
}

const EXCEPTIONS: RuleException[] = [
  createException(
    'workspace',
    'links/names/domain-directory.ts',
    'listDomainNames',
    'a domain of any workspace is no source of visitors for anybody',
  ),
  createException(
    'workspace',
    'links/resolve.ts',
    '',
    'a redirect knows only the slug, and the slug belongs to one workspace',
  ),
  createException(
    'workspace',
    'links/names/domain-directory.ts',
    'createDomainDirectory',
    'a request knows only the host, and a verified domain belongs to one workspace',
  ),
  createException('workspace', 'links/domains/recheck-domains.ts', 'listDue', JOB),
  createException('allow', 'proofs/proof-chain.ts', 'appendProofs', JOB),
  createException('workspace', 'destinations/watch-destinations.ts', 'listDueByHost', JOB),
  createException('workspace', 'destinations/watch-destinations.ts', 'storeCheck', JOB),
  createException('allow', 'destinations/watch-destinations.ts', 'storeCheck', JOB),
  createException('allow', 'destinations/watch-destinations.ts', 'deleteUnwatched', JOB),
  createException('allow', 'destinations/report-broken.ts', 'claim', JOB),
  createException('allow', 'destinations/report-broken.ts', 'release', JOB),
  createException('allow', 'destinations/sync-destinations.ts', 'storeDifference', JOB),
  createException(
    'workspace',
    'destinations/sync-destinations.ts',
    'findEarlierChecks',
    'a URL is checked once a day for all workspaces',
  ),
  createException('workspace', 'forms/submissions/close-client-names.ts', 'select', JOB),
  createException('workspace', 'forms/submissions/close-client-names.ts', 'change', JOB),
  createException('workspace', 'forms/submissions/fold-submission-texts.ts', 'change', JOB),
  createException('workspace', 'forms/submissions/fold-submission-texts.ts', 'selectSlice', JOB),
  createException('workspace', 'links/fold-search-texts.ts', 'select', JOB),
  createException('workspace', 'links/fold-search-texts.ts', 'change', JOB),
  createException('workspace', 'splits/end-split.ts', 'listDueSplits', JOB),
  createException('workspace', 'views/due-views.ts', 'listDueViews', JOB),
  createException('allow', 'views/reports/send-reports.ts', 'sendReport', JOB),
  createException('allow', 'views/due-views.ts', 'postpone', JOB),
  createException('allow', 'views/alerts/send-alerts.ts', 'checkAlert', JOB),
  createException('allow', 'views/due-views.ts', 'pruneSent', JOB),
  createException(
    'workspace',
    'views/view.ts',
    'findSharedView',
    'the address of a shared page is the secret that opens it, and belongs to one workspace',
  ),
  createException('workspace', 'forms/uploads/sweep-uploads.ts', 'findKnownKeys', JOB),
  createException('allow', 'forms/uploads/erase-files.ts', 'eraseStep', JOB),
  createException('workspace', 'doctor/checks/uploads.ts', 'compareAll', WHOLE_SERVER),
  createException('workspace', 'doctor/checks/uploads.ts', 'readKeys', WHOLE_SERVER),
  createException('workspace', 'doctor/checks/uploads.ts', 'readNewest', WHOLE_SERVER),
  createException('workspace', 'doctor/checks/uploads.ts', 'summarize', WHOLE_SERVER),
  createException('workspace', 'forms/uploads/find-file.ts', 'findFileByKey', BY_KEY),
  createException(
    'allow',
    'links/domains/verify-domain.ts',
    'storeCheck',
    'the verb above it calls allow(); the daily job has no actor',
  ),
  createException(
    'workspace',
    'links/names/link-domain.ts',
    'findHolder',
    'the operator names a link by its short URL, and a verified domain belongs to one workspace',
  ),
  createException(
    'allow',
    'links/bulk.ts',
    'runAllOrNothing',
    'it runs verbs, and each of them calls allow()',
  ),
  createException(
    'allow',
    'links/trash/empty-trash.ts',
    'purgeDeletedBefore',
    'a job purges what is due; the verb above it calls allow()',
  ),
  createException('workspace', 'doctor/counters.ts', 'listNextLinks', WHOLE_SERVER),
  createException('workspace', 'doctor/lead-counts.ts', 'findLackingLeads', WHOLE_SERVER),
  createException('workspace', 'doctor/lead-counts.ts', 'countLeads', WHOLE_SERVER),
  createException('workspace', 'doctor/checks/domains.ts', 'listDomains', WHOLE_SERVER),
  createException('workspace', 'doctor/checks/receivers.ts', 'findFailing', WHOLE_SERVER),
  createException('workspace', 'doctor/checks/receivers.ts', 'findDisabled', WHOLE_SERVER),
  createException('workspace', 'doctor/checks/receivers.ts', 'findBacklog', WHOLE_SERVER),
  createException('workspace', 'hits/erase-deleted-workspaces.ts', 'skipPastErasures', JOB),
  createException('allow', 'hits/erase-deleted-workspaces.ts', 'skipPastErasures', JOB),
  createException('allow', 'links/counting/closed-links.ts', 'announceSome', JOB),
  createException('workspace', 'analytics/feed/announce-clicks.ts', 'listSubscribers', JOB),
  createException('allow', 'analytics/feed/announce-clicks.ts', 'createClickAnnouncer', JOB),
  createException('allow', 'analytics/feed/announce-clicks.ts', 'tellAll', JOB),
  createException('allow', 'analytics/feed/click-mark.ts', 'ensureClickMark', JOB),
  createException('workspace', 'links/counting/count-clicks.ts', 'addClicks', JOB),
  createException('workspace', 'visitors/ensure-salts.ts', 'deleteInternalVisitors', JOB),
  createException(
    'workspace',
    'visitors/traffic-directory.ts',
    'selectVisitors',
    'redirects serve all workspaces',
  ),
  createException('workspace', 'visitors/traffic-directory.ts', 'listMemberships', OWN_WORKSPACES),
  createException('allow', 'visitors/traffic-directory.ts', 'storeMember', 'the guard has found the person'),
  createException('workspace', 'links/preload-links.ts', 'listLastClicked', 'redirects serve all workspaces'),
  createException('workspace', 'transfer/import/import-schedule.ts', 'listWaiting', JOB),
  createException('allow', 'transfer/history/store-chunk.ts', 'storeChunk', JOB),
  createException('allow', 'transfer/history/erase-imported-clicks.ts', 'eraseImportedClicks', JOB),
  createException('allow', 'transfer/history/erase-imported-clicks.ts', 'eraseHere', JOB),
  createException('allow', 'transfer/history/erase-imported-clicks.ts', 'lowerCounters', JOB),
  createException('workspace', 'transfer/history/erase-imported-clicks.ts', 'eraseUndoneHistories', JOB),
  createException('workspace', 'transfer/history/store-chunk.ts', 'isStored', JOB),
  createException('workspace', 'transfer/import/prune-imports.ts', 'listNeededUploads', JOB),
  createException('workspace', 'transfer/import/prune-imports.ts', 'pruneImportRows', JOB),
  createException('workspace', 'transfer/import/prune-imports.ts', 'failAbandonedImports', JOB),
  createException('allow', 'transfer/import/prune-imports.ts', 'failAbandonedImports', JOB),
  createException('workspace', 'cluster/change-feed.ts', '', EVERY_CHANGE),
  createException('workspace', 'cluster/change-feed.ts', 'findStart', EVERY_CHANGE),
  createException('workspace', 'cluster/prune-changes.ts', 'pruneChanges', EVERY_CHANGE),
  createException('workspace', 'accounts/auth/sign-up.ts', 'listPendingInvitations', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sign-up.ts', 'signUp', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sign-up.ts', '', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/reset-password.ts', 'createResetLink', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/reset-password.ts', 'resetPassword', OWN_ACCOUNT),
  createException('allow', 'accounts/own-account/change-email.ts', 'requestEmailChange', OWN_ACCOUNT),
  createException('allow', 'accounts/own-account/change-email.ts', 'confirmEmailChange', OWN_ACCOUNT),
  createException('allow', 'accounts/own-account/change-email.ts', 'undoEmailChange', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sign-up-link.ts', 'createSignUpLink', OWN_ACCOUNT),
  createException(
    'allow',
    'accounts/abuse/mail-budget.ts',
    'createMailBudget',
    'it counts the mails of the whole installation, whoever causes them',
  ),
  createException('allow', 'accounts/abuse/mail-budget.ts', 'pruneMailCounts', JOB),
  createException(
    'allow',
    'notify/recipients/ask-recipients.ts',
    'noteRecipient',
    'it notes whom the verbs of channels ask, and they call allow()',
  ),
  createException('allow', 'notify/recipients/recipient-choice.ts', 'setRecipientState', LINK_IN_MAIL),
  createException('allow', 'forms/replies/confirm-submission.ts', 'confirmSubmission', LINK_IN_MAIL),
  createException('allow', 'forms/replies/answer-link.ts', 'stopReplies', LINK_IN_MAIL),
  createException('allow', 'accounts/access/session.ts', 'extendSession', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sessions.ts', 'endSessions', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sessions.ts', 'replaceSession', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/store-language.ts', 'storeLanguage', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/finish-sign-in.ts', 'endEarlierSession', OWN_ACCOUNT),
  createException(
    'allow',
    'accounts/second-factor/authenticator-app.ts',
    'startAuthenticatorApp',
    OWN_ACCOUNT,
  ),
  createException(
    'allow',
    'accounts/second-factor/authenticator-app.ts',
    'confirmAuthenticatorApp',
    OWN_ACCOUNT,
  ),
  createException('allow', 'accounts/second-factor/authenticator-app.ts', 'useAppCode', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/recovery-codes.ts', 'replaceRecoveryCodes', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/recovery-codes.ts', 'useRecoveryCode', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/passkeys.ts', 'addPasskey', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/passkeys.ts', 'usePasskey', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/passkeys.ts', 'renamePasskey', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/factors.ts', 'completeFactor', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/factors.ts', 'removeFactor', OWN_ACCOUNT),
  createException('allow', 'accounts/second-factor/factors.ts', 'resetSecondFactor', OPERATOR),
  createException('allow', 'accounts/own-account/delete-account.ts', 'deleteAccount', OWN_ACCOUNT),
  createException('workspace', 'accounts/own-account/delete-account.ts', 'describeDeletion', OWN_WORKSPACES),
  createException('workspace', 'accounts/own-account/delete-account.ts', 'listOwnWorkspaces', OWN_WORKSPACES),
  createException('allow', 'accounts/auth/better-auth-adapter.ts', 'createAdapter', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/better-auth-adapter.ts', 'createTableWrites', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/better-auth-adapter.ts', 'deleteRows', OWN_ACCOUNT),
  createException('workspace', 'accounts/access/keys.ts', 'selectKey', BEFORE_ACTOR),
  createException('workspace', 'accounts/access/keys.ts', 'recordUse', BEFORE_ACTOR),
  createException('workspace', 'accounts/access/keys.ts', 'revokeKey', OPERATOR),
  createException(
    'workspace',
    'accounts/workspaces/invitations.ts',
    'getInvitation',
    'the person with the link knows only its token, and the token belongs to one workspace',
  ),
  createException(
    'allow',
    'accounts/access/idempotency.ts',
    'answerInTransaction',
    'it stores an answer beside a verb, and the verb calls allow()',
  ),
  createException(
    'allow',
    'accounts/access/idempotency.ts',
    'answerOutsideTransaction',
    'it stores an answer beside a verb, and the verb calls allow()',
  ),
  createException('workspace', 'links/suspend.ts', 'findLink', OPERATOR),
  createException('workspace', 'links/counters.ts', 'selectLinks', 'its callers name the workspace'),
  createException('workspace', 'links/counters.ts', 'moveNewClicks', JOB),
  createException('allow', 'links/suspend.ts', 'setSuspension', OPERATOR),
  createException('allow', 'accounts/auth/suspend-user.ts', 'suspendUser', OPERATOR),
  createException('allow', 'accounts/auth/suspend-user.ts', '', OPERATOR),
  createException('allow', 'accounts/workspaces/suspend-workspace.ts', 'setSuspension', OPERATOR),
  createException('workspace', 'notify/delivery/fair-schedule.ts', 'selectChannels', JOB),
  createException('workspace', 'notify/delivery/backlog-watch.ts', 'listWaitingChannels', JOB),
  createException('workspace', 'notify/delivery/backlog-watch.ts', 'listBehind', JOB),
  createException('allow', 'notify/delivery/backlog-watch.ts', 'beginEpisode', JOB),
  createException('allow', 'notify/delivery/backlog-watch.ts', 'endEpisode', JOB),
  createException(
    'workspace',
    'notify/outbox/waiting-deliveries.ts',
    'countWaiting',
    'its callers have read the channels, and an index without the workspace answers it',
  ),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'toFirstWaiting', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'readChannels', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'updateLeased', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'failSpent', JOB),
  createException('workspace', 'notify/delivery/claim-deliveries.ts', 'releaseLeases', JOB),
  createException('workspace', 'notify/delivery/record-attempts.ts', 'lockChannels', JOB),
  createException('workspace', 'notify/delivery/record-attempts.ts', 'updateDelivered', JOB),
  createException('workspace', 'notify/delivery/record-attempts.ts', 'updateHealthy', JOB),
  createException('workspace', 'notify/digests/gather-digests.ts', '', JOB),
  createException('workspace', 'notify/digests/gather-digests.ts', 'listDue', JOB),
  createException('workspace', 'notify/digests/gather-digests.ts', 'settleDigests', JOB),
  createException(
    'allow',
    'notify/outbox/replan-deliveries.ts',
    'replanDeliveries',
    'updateChannel has called it',
  ),
  createException(
    'workspace',
    'forms/endpoint/find-duplicate.ts',
    'selectFingerprints',
    'it reads hashes of all workspaces, and each look-up of a duplicate names its workspace',
  ),
  createException(
    'workspace',
    'forms/endpoint/find-duplicate.ts',
    'selectNewestFingerprint',
    'it reads a time',
  ),
  createException('workspace', 'forms/erasure/prune-submissions.ts', 'listForms', JOB),
  createException('allow', 'forms/erasure/prune-submissions.ts', 'deleteNext', JOB),
  createException('allow', 'forms/erasure/prune-submissions.ts', '', JOB),
  createException('workspace', 'notify/delivery/follow-clock.ts', 'findNewestMoment', JOB),
  createException('workspace', 'notify/delivery/follow-clock.ts', 'bringForward', JOB),
  createException('allow', 'notify/delivery/follow-clock.ts', 'createClockFollower', JOB),
  createException('allow', 'notify/delivery/claim-deliveries.ts', 'releaseLeases', JOB),
  createException('allow', 'notify/delivery/deliverer.ts', 'recordAndClaim', JOB),
  createException('allow', 'notify/delivery/deliverer.ts', 'recordEach', JOB),
  createException('allow', 'accounts/workspaces/create-user.ts', 'createUser', OPERATOR),
  createException('allow', 'accounts/workspaces/add-member.ts', 'addMember', OPERATOR),
  createException(
    'allow',
    'accounts/workspaces/create-owned-workspace.ts',
    'createOwnedWorkspace',
    'everybody who has signed in may create a workspace',
  ),
  createException(
    'allow',
    'accounts/workspaces/accept-invitation.ts',
    'acceptInvitation',
    'the invitation allows it',
  ),
  createException('workspace', 'accounts/audit/record-audit.ts', 'recordAccountAudit', OWN_ACCOUNT),
  createException('workspace', 'accounts/access/workspace-limits.ts', 'requireRoomForWorkspace', OWN_ACCOUNT),
  createException('allow', 'accounts/auth/sign-in-audit.ts', 'recordFailedSignIn', OWN_ACCOUNT),
  createException(
    'allow',
    'accounts/audit/record-export.ts',
    'recordExport',
    'an export only reads, and its route says who may read',
  ),
  createException('allow', 'accounts/auth/sign-in-audit.ts', 'recordAccountEvent', OWN_ACCOUNT),
  createException('allow', 'accounts/access/keys.ts', 'createKey', OPERATOR),
  createException('allow', 'accounts/access/keys.ts', 'revokeKey', OPERATOR),
  createException('allow', 'accounts/access/keys.ts', 'recordUse', BEFORE_ACTOR),
  createException('allow', 'accounts/workspaces/create-workspace.ts', 'createWorkspace', OPERATOR),
  createException('allow', 'accounts/workspaces/change-plan.ts', 'changePlan', OPERATOR),
  createException('allow', 'accounts/workspaces/delete-workspace.ts', 'deleteWorkspace', OPERATOR),
  createException('allow', 'hits/erase-deleted-workspaces.ts', 'eraseDeletedWorkspaces', JOB),
  createException('allow', 'links/counting/count-clicks.ts', 'countClicks', JOB),
  createException('allow', 'hits/misses/store-misses.ts', 'storeMisses', JOB),
  createException('workspace', 'hits/misses/store-misses.ts', '', 'it bounds the counts of a whole hour'),
  createException('allow', 'hits/misses/prune-misses.ts', 'foldHour', JOB),
  createException('workspace', 'hits/misses/prune-misses.ts', 'foldHour', JOB),
  createException('workspace', 'hits/misses/prune-misses.ts', 'findOldestHour', JOB),
  createException('workspace', 'hits/misses/prune-misses.ts', 'countRows', JOB),
  createException('allow', 'analytics/missing/report-missing.ts', 'reportMissing', JOB),
  createException('workspace', 'analytics/missing/report-missing.ts', 'reportMissing', JOB),
  createException('allow', 'analytics/missing/report-missing.ts', 'claim', JOB),
  createException('allow', 'analytics/missing/report-missing.ts', 'release', JOB),
  createException(
    'allow',
    'links/counting/use-click.ts',
    'takeClicks',
    'a visitor calls it, and a visitor is no actor',
  ),
  createException('allow', 'visitors/ensure-salts.ts', 'ensureSalts', JOB),
  createException('allow', 'attribution/assign-clicks.ts', 'assignClicks', JOB),
  createException('allow', 'forms/attempts/attempt-counter.ts', 'store', JOB),
  createException('workspace', 'forms/attempts/attempt-counter.ts', 'upsertAttempts', JOB),
  createException(
    'workspace',
    'accounts/brand/logo-endpoint.ts',
    '',
    'a page and a mail know only the hash, which is the public name of the picture',
  ),
  createException(
    'workspace',
    'forms/settings/form-settings.ts',
    'selectForms',
    'the public endpoint knows only the form key, and the key belongs to one workspace',
  ),
  createException(
    'allow',
    'forms/endpoint/store-submission.ts',
    'storeSubmission',
    'a visitor calls it, and a visitor is no actor',
  ),
  createException(
    'fetch',
    'forms/captcha/turnstile.ts',
    '',
    'the operator sets the address, and it may be a private one',
  ),
  {
    rule: 'fetch',
    file: 'server/cli/mcp/serve-mcp.ts',
    what: '',
    why: 'a person names the server on their own command line, and it may be on their own machine',
  },
]

const OTHER_CLOCK =
  'it is compared with the clock of a database or of another process, which no test can move'
const WORKER_CLOCK = 'the hit worker reads the clock itself to know which days have ended'
const KILL = 'a process is killed at another moment in each round, and not when it has done something'
const TIME_ITSELF = 'the time that goes by is what is tested, and no condition says when it is over'

const createClockException = (file: string, what: string, why: string): RuleException => {
  return { rule: 'clocks', file, what, why }
}

/** Tests that need the real clock. */
const CLOCK_EXCEPTIONS: RuleException[] = [
  createClockException('server/features/cluster/cluster-node.test.ts', 'Date.now', OTHER_CLOCK),
  createClockException('server/storage/hits/duckdb/layout.test.ts', 'Date.now', OTHER_CLOCK),
  createClockException('tests/cluster/promises.test.ts', 'Date.now', OTHER_CLOCK),
  createClockException('server/features/hits/worker/roll-ups.test.ts', 'Date.now', WORKER_CLOCK),
  createClockException('tests/journeys/roll-ups.test.ts', 'Date.now', WORKER_CLOCK),
  createClockException('server/cli/demo/run-demo.test.ts', 'Bun.sleep', KILL),
  createClockException('server/storage/hits/duckdb/rollups/faults.test.ts', 'Bun.sleep', KILL),
  createClockException(
    'server/storage/hits/duckdb/sorter.test.ts',
    'Bun.sleep',
    `${KILL}; and work comes in shorter pauses than those in which the sorter gets its turn`,
  ),
  createClockException('tests/faults/backup.test.ts', 'Bun.sleep', KILL),
  createClockException('tests/faults/deliveries-crash.test.ts', 'Bun.sleep', KILL),
  createClockException('tests/security/descriptors.test.ts', 'Bun.sleep', TIME_ITSELF),
  createClockException('tests/security/slow-clients.test.ts', 'Bun.sleep', TIME_ITSELF),
  createClockException('tests/security/watchdog.test.ts', 'Bun.sleep', TIME_ITSELF),
  createClockException(
    'server/features/backup/moving-hits.test.ts',
    'Bun.sleepSync',
    'a step of a backup calls it and cannot wait: meanwhile another process moves the hits',
  ),
]

/** Words that mean something on one machine only. */
const PRIVATE_WORDS = [
  /(?<![\w.~:/-])\/(?:work|home|root|Users)\/[\w.-]+/,
  /\/tmp\/bash_jobs/,
  /registry\.(?:npmjs|yarnpkg|npmmirror)\.|\b(?:proxy\.golang|pypi)\.org\b/,
]

const findPrivateWords = (text: string) => PRIVATE_WORDS.flatMap((word) => word.exec(text)?.[0] ?? [])

describe('this repository', () => {
  quick('keeps its rules', async () => {
    const found = findViolations(await readCheckout(), [...EXCEPTIONS, ...CLOCK_EXCEPTIONS])
    expect(found.map(({ file, line, rule, message }) => `${file}:${line} ${rule}: ${message}`)).toEqual([])
  })

  test('has tables that belong to workspaces, and the rules find them', async () => {
    const files = (await readCheckout()).filter(({ path }) => TABLES.test(path))
    const tables = files.map(({ text }) => text).join('\n')
    expect(listWorkspaceTables(tables)).toEqual(
      expect.arrayContaining(['api_keys', 'links', 'tags', 'link_tags']),
    )
    expect(listWorkspaceTables(tables)).not.toContain('workspaces')
  })

  test('names no path and no package registry of one machine', async () => {
    const slash = '/'
    for (const place of [`cd ${slash}work/main`, `'${slash}home/jo/x'`, `https://registry${'.'}npmjs.org/`]) {
      expect(findPrivateWords(place)).toHaveLength(1)
    }
    expect(findPrivateWords('https://example.com/work/shop and ./work/x')).toEqual([])
    const found = (await readCheckout()).flatMap(({ path, text }) =>
      path === 'package-lock.json' ? [] : findPrivateWords(text).map((word) => `${path}: ${word}`),
    )
    expect(found).toEqual([])
  })
})
