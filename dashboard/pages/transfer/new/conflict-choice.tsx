// What happens to a link whose short link is taken.

import { useId } from 'react'
import type { OnConflict } from '../../../api/transfer/imports.ts'

const CHOICES: Record<OnConflict, { name: string; about: string }> = {
  skip: {
    name: 'Skip the link',
    about: 'The link that is here stays as it is. The result lists what was skipped.',
  },
  rename: { name: 'Rename the link', about: 'The new link gets a number at its end, such as sale-2.' },
  fail: {
    name: 'Import nothing',
    about: 'One taken short link stops the whole import, and nothing changes.',
  },
}

interface Props {
  value: OnConflict
  error: string | undefined
  change: (value: OnConflict) => void
}

export function ConflictChoice({ value, error, change }: Props) {
  const id = useId()
  return (
    <fieldset className="grid gap-2" aria-describedby={error && id}>
      <legend className="mb-2 text-sm font-medium">If a short link is taken</legend>
      {(Object.keys(CHOICES) as OnConflict[]).map((choice) => (
        <label key={choice} className="flex min-w-0 items-start gap-3">
          <input
            type="radio"
            name={id}
            className="mt-1 accent-accent"
            aria-invalid={error !== undefined}
            checked={choice === value}
            onChange={() => change(choice)}
          />
          <span className="min-w-0">
            <span className="block">{CHOICES[choice].name}</span>
            <span className="block text-sm text-soft">{CHOICES[choice].about}</span>
          </span>
        </label>
      ))}
      {error && (
        <p id={id} role="alert" className="text-sm text-danger">
          {error}
        </p>
      )}
    </fieldset>
  )
}
