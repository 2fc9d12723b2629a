// Errors use the words of the screen, whatever field of the API they are about.

import { expect, test } from 'bun:test'
import { ApiError, toFieldErrors } from '../../dashboard/api/client.ts'
import { toScreenName, withScreenNames } from '../../dashboard/api/field-names.ts'
import * as links from '../../server/features/links/schema.ts'

const CAMEL_CASE = /[a-z][A-Z]/

test('every field of a link has a name in words', () => {
  for (const field of Object.keys(links.CreateLink.shape)) expect(toScreenName(field)).not.toMatch(CAMEL_CASE)
  expect(
    [
      'destinationUrl',
      'slug',
      'expiresAt',
      'externalId',
      '2.clickLimit',
      'tagNames.0',
      'geoTargeting.DE',
    ].map(toScreenName),
  ).toEqual([
    'Destination URL',
    'Short link',
    'Expires',
    'External ID',
    'Click limit',
    'Tags',
    'Countries (DE)',
  ])
})

test('a message that names another field names it as the screen does', () => {
  expect(withScreenNames('must be after startsAt')).toBe('must be after “Starts”')
  expect(withScreenNames('must be an http or https URL')).toBe('must be an http or https URL')
})

test('an error of a field that a form does not show is told with the name of the field', async () => {
  const error = new ApiError(422, 'x', { name: 'Must not be empty', 'nextHosts.1': 'Must be a host' })
  expect(toFieldErrors(error, ['name'])).toEqual({
    name: 'Must not be empty',
    general: 'Allowed hosts for _next: must be a host',
  })
  expect(toFieldErrors(error, ['name', 'nextHosts'])).toEqual(error.errors)
  expect(toFieldErrors(new ApiError(409, 'Slug is reserved'), ['slug'])).toEqual({
    general: 'Slug is reserved',
  })
})
