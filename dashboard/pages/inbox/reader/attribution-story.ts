// The sentences about how the link of a submission is known. Each says only what is certain, so that the parts of the
// reader never contradict each other.

import type { Submission } from '../../../api/submissions.ts'

type Facts = Pick<Submission, 'attribution' | 'sessionLinked'>

export interface AttributionStory {
  sentence: string
  /** The link's conversion tracking is off: the switch would have measured the click. */
  offersSwitch: boolean
}

const VISIT = 'The snippet on your page recorded the visit'
const SHORTLY_BEFORE = 'The same visitor clicked the link shortly before.'
// An ad blocker or a lost connection leaves the same trace as a page without the snippet.
const NO_VISIT =
  'No visit was recorded: the page of the form has no snippet, or the snippet couldn’t report the visit.'
// The server does not store that a browser asks not to be tracked.
const NO_VISIT_OR_PRIVACY =
  'No visit was recorded either: the page of the form has no snippet, the snippet couldn’t report the visit, or the ' +
  'visitor’s browser asks not to be tracked (Global Privacy Control).'

/** @param trackConversions of the submission's link as it is now; undefined where the link is not known */
export function tellAttribution(submission: Facts, trackConversions?: boolean): AttributionStory {
  const offersSwitch =
    submission.attribution === 'inferred' && submission.sessionLinked && trackConversions === false
  return { sentence: toSentence(submission, trackConversions), offersSwitch }
}

function toSentence({ attribution, sessionLinked }: Facts, trackConversions?: boolean): string {
  switch (attribution) {
    case 'measured':
      return sessionLinked
        ? `${VISIT}, and the address of a page named the click.`
        : 'The address of the form’s page named the click.'
    case 'inferred':
      return sessionLinked
        ? `${VISIT}, but no page’s address named the click${toCause(trackConversions)} ${SHORTLY_BEFORE}`
        : `${NO_VISIT} ${SHORTLY_BEFORE}`
    case 'pending':
      return `${sessionLinked ? `${VISIT}. ` : ''}Attribution is pending: analytics are catching up.`
    case 'none':
      return sessionLinked
        ? `${VISIT}. No known link brought it.`
        : `No known link brought this submission. ${NO_VISIT_OR_PRIVACY}`
  }
}

function toCause(trackConversions: boolean | undefined): string {
  if (trackConversions === undefined) return '.'
  if (!trackConversions) return ': conversion tracking is off for the link.'
  return (
    ': it was removed on the way, the first page wasn’t recorded, or conversion tracking was still off for the link ' +
    'at that time.'
  )
}

/**
 * Says whether `pageUrl` is the site only: to another site, most browsers tell the origin of a page and not its path. A
 * page that the snippet recorded is known.
 */
export function isSiteOnly({
  pageUrl,
  landingUrl,
  sessionLinked,
}: Pick<Submission, 'pageUrl' | 'landingUrl' | 'sessionLinked'>): boolean {
  const page = pageUrl === null ? null : URL.parse(pageUrl)
  if (page?.pathname !== '/') return false
  return !sessionLinked || landingUrl === null || URL.parse(landingUrl)?.origin !== page.origin
}
