// The shape of a submission that a site's own server stores: POST /v1/forms/{formKey}/submissions.

import { z } from '@hono/zod-openapi'
import { flag, instant, text } from '../../../lib/api-fields.ts'
import { parseIpAddress } from '../../../lib/parse-ip.ts'
import { checkUrl, URL_MAX } from '../../../lib/web-url.ts'
import { FIELD_LIMITS } from '../endpoint/fields.ts'

/** Servers take headers of 16 KB, so no browser sends a longer agent. */
const AGENT_MAX = 16_384
/** The longest IPv6 address with an IPv4 address at its end. */
const ADDRESS_MAX = 45

const scalar = z.union([text(0, FIELD_LIMITS.value), z.number(), z.boolean(), z.null()])

const fieldValue = z.union([scalar, z.array(scalar)], {
  error: `must be a text of at most ${FIELD_LIMITS.value} characters, a number, true, false, null or a list of these`,
})

/** An empty text is an absent URL: that is what `document.referrer` is on a page that nobody linked. */
const visitedUrl = (schemes: string[], description: string, example: string) =>
  text(0, URL_MAX)
    .refine(
      (value) => value === '' || 'href' in checkUrl(value, { schemes }),
      `must be an http or https URL${schemes.map((scheme) => `, or ${scheme}`).join('')}`,
    )
    .nullable()
    .optional()
    .openapi({ type: ['string', 'null'], maxLength: URL_MAX, description, example })

export const CreateSubmission = z
  .strictObject({
    fields: z
      .record(z.string(), fieldValue, { error: 'must be an object of fields' })
      .refine(
        (fields) => Object.keys(fields).length <= FIELD_LIMITS.fields,
        `must have at most ${FIELD_LIMITS.fields} fields`,
      )
      .openapi({
        description:
          `What was sent, as in the JSON body of the form endpoint: at most ${FIELD_LIMITS.fields} fields, whose names have at most ` +
          `${FIELD_LIMITS.name} characters. Control fields such as \`_gotcha\`, \`_replyto\`, \`_lang\` and \`_service_eid\` count`,
      }),
    address: text(0, ADDRESS_MAX)
      .refine((value) => parseIpAddress(value) !== undefined, 'must be an IPv4 or IPv6 address')
      .nullable()
      .optional()
      .openapi({ description: "The sender's IP address. It gives the country and is not stored" }),
    userAgent: text(0, AGENT_MAX)
      .nullable()
      .optional()
      .openapi({ description: "The `User-Agent` of the sender's browser" }),
    pageUrl: visitedUrl(
      [],
      'The page with the form, with its query: campaign and click are read from it',
      'https://example.com/contact?utm_source=news',
    ),
    referrer: visitedUrl(
      ['android-app:', 'ios-app:'],
      'Where the sender came to the page from',
      'https://www.google.com/',
    ),
    at: instant()
      .nullable()
      .optional()
      .openapi({ description: 'When it was sent: within the last 24 hours; now when absent' }),
    trackingOptOut: flag()
      .nullable()
      .optional()
      .openapi({ description: 'The sender sent `Sec-GPC: 1`: it is matched with no visit and no click' }),
  })
  .openapi('CreateSubmission')
export type CreateSubmissionInput = z.infer<typeof CreateSubmission>
