// How the link answers: behind a password, with the query or a click id passed on, with which status.

import { Button } from '../../../ui/button.tsx'
import { Field, Select, TextField, Toggle } from '../../../ui/forms/field.tsx'
import { CollapsibleSection } from './collapsible-section.tsx'
import type { LinkFieldsProps } from './field-props.ts'

const STATUSES = [
  [302, '302, found (usual)'],
  [301, '301, moved for good'],
  [307, '307, temporary, same method'],
  [308, '308, for good, same method'],
] as const

export function RedirectFields(props: LinkFieldsProps) {
  const { draft, link, errors, onChange } = props
  const locked = draft.password === null ? link?.passwordProtected : draft.password !== ''
  const set = [
    locked && 'password',
    draft.forwardQuery && 'query passed on',
    draft.trackConversions && 'conversions',
    draft.redirectStatus !== 302 && draft.redirectStatus,
  ]
  return (
    <CollapsibleSection
      title="Password, query, redirect"
      set={set.filter(Boolean).join(', ')}
      wrong={Boolean(errors.password ?? errors.redirectStatus)}
    >
      <Password {...props} />
      <Toggle
        label="Pass the query on"
        hint="What stands after ? in the short link is added to the destination, unless it has it itself."
        checked={draft.forwardQuery}
        onChange={({ target }) => onChange({ forwardQuery: target.checked })}
      />
      <Toggle
        label="Track conversions"
        hint="Adds tp_cid, the click’s id, so that a form sent later is counted for this link."
        checked={draft.trackConversions}
        onChange={({ target }) => onChange({ trackConversions: target.checked })}
      />
      <Field
        label="Redirect status"
        hint="Whichever it is, browsers ask again each time: clicks are counted and edits take effect at once."
        error={errors.redirectStatus}
      >
        {(control) => (
          <Select
            {...control}
            value={draft.redirectStatus}
            onChange={({ target }) => onChange({ redirectStatus: Number(target.value) })}
          >
            {STATUSES.map(([status, label]) => (
              <option key={status} value={status}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </CollapsibleSection>
  )
}

function Password({ draft: { password }, link, errors, onChange }: LinkFieldsProps) {
  if (password === null && link?.passwordProtected) {
    return (
      <div className="flex flex-wrap items-center gap-2">
        <p className="mr-auto text-sm">Visitors are asked for a password.</p>
        <Button size="small" onClick={() => onChange({ password: '' })}>
          Change or remove
        </Button>
      </div>
    )
  }
  return (
    <div className="grid gap-2">
      <TextField
        label="Password"
        hint={
          link?.passwordProtected
            ? 'Left empty, nobody is asked any more.'
            : 'Visitors are asked for it first.'
        }
        autoComplete="off"
        maxLength={256}
        placeholder="none"
        value={password ?? ''}
        error={errors.password}
        onChange={({ target }) =>
          onChange({ password: target.value || (link?.passwordProtected ? '' : null) })
        }
      />
      {link?.passwordProtected && (
        <Button size="small" className="justify-self-start" onClick={() => onChange({ password: null })}>
          Keep the old password
        </Button>
      )}
    </div>
  )
}
