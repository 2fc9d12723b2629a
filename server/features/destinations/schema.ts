// Destinations of links and their repair as JSON.

import { z } from '@hono/zod-openapi'
import { PAGE_PARAMETERS, parameter, text, wholeNumber } from '../../lib/api-fields.ts'
import { URL_MAX } from '../../lib/web-url.ts'
import { DESTINATION_STATES } from './destination-states.ts'

export type DestinationState = (typeof DESTINATION_STATES)[number]

/** The maximum number of links that one call changes. */
export const REPAIR_MAX = 1000

export const DestinationShape = z
  .strictObject({
    url: z.string(),
    host: z.string(),
    state: z.enum(DESTINATION_STATES).openapi({
      description:
        'failing: the last check failed. broken: three checks or more have failed over at least a day. parked: the domain is ' +
        'parked or for sale. not_allowed: robots.txt forbids the check, or the address is private',
    }),
    status: z.int().nullable().openapi({ description: 'HTTP status of the last answer' }),
    message: z
      .string()
      .nullable()
      .openapi({ description: 'The problem that the last check found; null when all is well' }),
    checkedAt: z.iso.datetime().nullable(),
    since: z.iso.datetime().nullable().openapi({
      description: 'Since when it is in this state; failing, broken and parked count from the first failure',
    }),
    links: z.int().openapi({ description: 'How many live links lead to it' }),
  })
  .openapi('Destination')
export type DestinationResource = z.infer<typeof DestinationShape>

const isState = (name: string): name is DestinationState =>
  (DESTINATION_STATES as readonly string[]).includes(name)

const states = parameter(200)
  .transform((names) => names.split(','))
  .refine(
    (names): names is DestinationState[] => names.every(isState),
    `must be one or more of ${DESTINATION_STATES.join(', ')}, separated by commas`,
  )
  .openapi({ type: 'string', maxLength: 200, example: 'broken,parked,failing' })

export const DestinationListQuery = z.strictObject({
  ...PAGE_PARAMETERS,
  state: states.optional().openapi({ description: 'Any of these states' }),
})
export type DestinationListQueryInput = z.infer<typeof DestinationListQuery>

const url = (description: string) =>
  text(1, URL_MAX).openapi({ format: 'uri', example: 'https://example.com/landing', description })

export const RepairDestination = z
  .strictObject({
    from: url('The destination as the links have it'),
    to: url('The destination that takes its place'),
    linkIds: z
      .array(wholeNumber(1), { error: 'must be a list of link ids' })
      .min(1, 'must have at least one item')
      .max(REPAIR_MAX, `must be at most ${REPAIR_MAX} items`)
      .nullable()
      .optional()
      .openapi({ description: 'Only these links; absent: all' }),
  })
  .openapi('RepairDestination')
export type RepairDestinationInput = z.infer<typeof RepairDestination>

export const RepairShape = z
  .strictObject({
    ids: z
      .array(z.int())
      .openapi({ description: 'The changed links. With `from` and `to` exchanged they undo it' }),
    left: z.int().openapi({
      description: `Links that still have the destination: a call changes ${REPAIR_MAX} at most`,
    }),
  })
  .openapi('RepairedDestination')
export type RepairResource = z.infer<typeof RepairShape>
