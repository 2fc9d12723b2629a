// The wire shapes of a link's clicks as a feed.

import { z } from '@hono/zod-openapi'
import { numberParameter, parameter } from '../../../lib/api-fields.ts'
import { HIT_CLASSES, HIT_DIMENSIONS, HIT_TRIGGERS } from '../../../storage/hits/hit.ts'
import { TRAFFIC_CHANNELS } from '../../../storage/sources/traffic-channel.ts'
import { classesParameter } from '../schema.ts'

const {
  trigger: _trigger,
  variant: _variant,
  ...dimensions
} = Object.fromEntries(HIT_DIMENSIONS.map((name) => [name, z.string().nullable()])) as Record<
  (typeof HIT_DIMENSIONS)[number],
  z.ZodNullable<z.ZodString>
>

export const ClickShape = z
  .strictObject({
    id: z.int().openapi({ description: 'Unique on the server that has recorded the click' }),
    time: z.iso.datetime(),
    linkId: z.int(),
    slug: z.string().nullable(),
    domain: z.string().nullable(),
    class: z.enum(HIT_CLASSES),
    trigger: z.enum(HIT_TRIGGERS),
    ...dimensions,
    visitor: z
      .string()
      .nullable()
      .openapi({ description: 'The same for all clicks of a visitor on one UTC day' }),
    source: z.string().nullable(),
    channel: z.enum(TRAFFIC_CHANNELS),
    imported: z.boolean(),
    variant: z.string().nullable(),
  })
  .openapi('Click')
export type ClickResource = z.infer<typeof ClickShape>

const LIMIT_MAX = 1000
export const FEED_LIMIT = 100
/** Room for the places of some hundred servers. */
const AFTER_MAX = 8192

export const ClickFeedQuery = z.strictObject({
  after: parameter(AFTER_MAX)
    .optional()
    .openapi({
      description:
        'The `after` of the answer before. From the first click on when absent; `latest` answers with no click, and with the ' +
        '`after` for the following ones',
    }),
  limit: numberParameter(1, LIMIT_MAX)
    .optional()
    .openapi({ description: `${FEED_LIMIT} when absent` }),
  class: classesParameter,
})
export type ClickFeedInput = z.infer<typeof ClickFeedQuery>

export const ClickFeedShape = z
  .strictObject({
    data: z.array(ClickShape),
    after: z
      .string()
      .openapi({ description: 'For the next request. It stays the same while there are no new clicks' }),
    hasMore: z
      .boolean()
      .openapi({ description: 'More rows are available: send the next request immediately' }),
  })
  .openapi('ClickFeed')
export type ClickFeed = z.infer<typeof ClickFeedShape>
