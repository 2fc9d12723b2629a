// The dashboard knows each language that senders can read.

import { expect, test } from 'bun:test'
import { BUILT_IN_LANGUAGES } from '../../dashboard/pages/forms/settings/groups/built-in-texts.ts'
import { LANGUAGES } from '../../server/features/forms/rules/languages.ts'

test('every language with built-in texts has them in the settings of a form', () => {
  expect(BUILT_IN_LANGUAGES.toSorted()).toEqual(LANGUAGES)
})
