// The fields for the password, query forwarding, public statistics and the redirect status.

import { Button } from '../../../ui/button.tsx'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { SelectField, TextField, Toggle } from '../../../ui/forms/field.tsx'
import { t } from '../../../ui/text.ts'
import type { LinkFieldsProps } from './field-props.ts'

const STATUSES = [
  [302, '302 Found (default)'],
  [301, '301 Moved Permanently'],
  [307, '307 Temporary Redirect'],
  [308, '308 Permanent Redirect'],
] as const

export function RedirectFields(props: LinkFieldsProps) {
  const { draft, link, errors, onChange } = props
  const locked = draft.password === null ? link?.passwordProtected : draft.password !== ''
  const settings = [
    locked && t('password'),
    draft.forwardQuery && t('forwards query'),
    draft.extraPath === 'append' && t('appends path'),
    draft.publicStats && t('public statistics'),
    draft.redirectStatus !== 302 && draft.redirectStatus,
  ]
  return (
    <CollapsibleSection
      title="Password and redirect"
      summary={settings.filter(Boolean).join(', ')}
      hasError={Boolean(errors.password ?? errors.redirectStatus)}
    >
      <Password {...props} />
      <Toggle
        label="Forward query parameters"
        hint="Adds the short link’s query parameters to the destination. The destination’s own parameters win."
        checked={draft.forwardQuery}
        onChange={({ target }) => onChange({ forwardQuery: target.checked })}
      />
      <Toggle
        label="Append extra path"
        hint="A path after the short link goes to the end of the destination: /docs/install leads to …/install."
        checked={draft.extraPath === 'append'}
        onChange={({ target }) => onChange({ extraPath: target.checked ? 'append' : 'ignore' })}
      />
      <Toggle
        label="Public statistics"
        hint="Everybody who adds a + to the short link sees its clicks."
        checked={draft.publicStats}
        onChange={({ target }) => onChange({ publicStats: target.checked })}
      />
      <SelectField
        label="Redirect status"
        hint="With every status, browsers ask again each time: every click is counted, and edits take effect at once."
        error={errors.redirectStatus}
        value={draft.redirectStatus}
        onChange={({ target }) => onChange({ redirectStatus: Number(target.value) })}
        options={STATUSES}
      />
    </CollapsibleSection>
  )
}

function Password({ draft: { password }, link, errors, onChange }: LinkFieldsProps) {
  if (password === null && link?.passwordProtected) {
    return (
      <div className="flex flex-wrap items-center gap-2">
        <p className="mr-auto text-sm">Visitors must enter a password.</p>
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
          link?.passwordProtected ? 'Leave empty to remove the password.' : 'Visitors must enter it first.'
        }
        autoComplete="off"
        maxLength={256}
        placeholder="No password"
        value={password ?? ''}
        error={errors.password}
        onChange={({ target }) =>
          onChange({ password: target.value || (link?.passwordProtected ? '' : null) })
        }
      />
      {link?.passwordProtected && (
        <Button size="small" className="justify-self-start" onClick={() => onChange({ password: null })}>
          Keep the current password
        </Button>
      )}
    </div>
  )
}
