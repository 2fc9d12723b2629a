// The placeholders of a body: the paths into what a webhook of the event would say. events.test.ts compares them
// with real events.

import type { ChannelEvent } from '../events/channel-events.ts'

const words = (list: string) => list.trim().split(/\s+/)

/** Every event has them. `data` is all that the event says, as JSON. */
const ALWAYS = words('event timestamp messageId data')

const LINK = words(`
  id slug domain shortUrl destinationUrl title comments tags externalId archived startsAt expiresAt expiredUrl clickLimit
  leadLimit passwordProtected forwardQuery trackConversions geoTargeting deviceTargeting rules ruleWarnings extraPath split
  splitEndsAt splitResult redirectStatus previewTitle previewDescription previewImage publicStats suspended suspendedReason clicks
  clicksBefore leads lastClickedAt createdAt updatedAt`)

/** The link of a submission. */
export const LEAD_LINK = words('id slug domain shortUrl destinationUrl title externalId')

const SUBMISSION = words(`
  id formKey formName fields files status test spamReasons consent notes assigneeId email duplicateOf referrer pageUrl landingUrl
  utmSource utmMedium utmCampaign utmTerm utmContent linkId link tags touches outcomes clickId eventId sessionLinked attribution
  device browser os country region city adClickIds createdAt`).concat(LEAD_LINK.map((name) => `link.${name}`))

const OUTCOME = words('id submissionId formKey linkId stage value currency at externalId createdAt updatedAt')

export const EVENT_PLACEHOLDERS: Record<ChannelEvent, readonly string[]> = {
  'submission.created': SUBMISSION,
  'outcome.recorded': OUTCOME,
  'link.created': LINK,
  'link.updated': LINK,
  'link.deleted': LINK,
  'link.clicked': ['count', 'clicks'],
  'link.closed': [...LINK, 'reason'],
  'split.decided': LINK,
}

/** A field of a form, whatever its name is. */
export const FIELD_PREFIX = 'fields.'

/** True where one of the events has it. */
export const isKnownPlaceholder = (path: string, events: readonly ChannelEvent[]): boolean =>
  ALWAYS.includes(path) ||
  events.some(
    (event) =>
      EVENT_PLACEHOLDERS[event].includes(path) ||
      (event === 'submission.created' && path.startsWith(FIELD_PREFIX) && path.length > FIELD_PREFIX.length),
  )
