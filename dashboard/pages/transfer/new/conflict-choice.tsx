// Choice for links whose short link is taken: skip them, rename them, or import nothing.

import type { OnConflict } from '../../../api/transfer/imports.ts'
import { RadioList, type RadioOption } from '../../../ui/forms/radio-list.tsx'

const CHOICES: RadioOption<OnConflict>[] = [
  {
    value: 'skip',
    name: 'Skip the link',
    about: 'The existing link stays as it is. The result lists the skipped links.',
  },
  {
    value: 'rename',
    name: 'Rename the link',
    about: 'The new link gets a number at its end, such as sale-2.',
  },
  {
    value: 'fail',
    name: 'Import nothing',
    about: 'One taken short link stops the whole import, and nothing changes.',
  },
]

interface Props {
  value: OnConflict
  error: string | undefined
  change: (value: OnConflict) => void
}

export const ConflictChoice = (props: Props) => (
  <RadioList legend="If a short link is taken" options={CHOICES} {...props} />
)
