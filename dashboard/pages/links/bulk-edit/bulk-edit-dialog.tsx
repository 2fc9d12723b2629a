// Makes one change to all selected links. The toast can undo it; links that could not change are listed with the reason.

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import type { EditedLinksResource } from '../../../api/links.ts'
import { formatCount } from '../../../ui/format.ts'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { DateTimeField } from '../../../ui/forms/date-time-field.tsx'
import { SelectField, TextField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { UtmInputs } from '../editor/utm-inputs.tsx'
import { toLinkName } from '../link/link-name.ts'
import { useLinkActions } from '../link/use-link-actions.ts'
import { useLinkDomains } from '../link/use-link-domains.ts'
import { type BulkDraft, NO_CHANGES, toChanges, validateBulk } from './bulk-draft.ts'

interface Props {
  links: LinkResource[]
  onClose: () => void
}

export function BulkEditDialog({ links: selected, onClose }: Props) {
  // A filter may hide changed links, so the dialog keeps the selected ones.
  const [links] = useState(selected)
  const [draft, setDraft] = useState(NO_CHANGES)
  const [errors, setErrors] = useState<Record<string, string>>({})
  const change = (part: Partial<BulkDraft>) => {
    setDraft((before) => ({ ...before, ...part }))
    setErrors({})
  }
  const { edit } = useLinkActions()
  const save = useMutation({
    mutationFn: () => edit(links, toChanges(draft), { describe: (name) => `${name} changed` }),
    onSuccess({ changed, failed }) {
      if (changed.length + failed.length === 0) toast('The links have all of this already')
      if (failed.length === 0) onClose()
    },
    onError() {},
  })
  const isEmpty = [toChanges(draft), validateBulk(draft)].every((each) => Object.keys(each).length === 0)
  const submit = () => {
    const invalid = validateBulk(draft)
    setErrors(invalid)
    if (Object.keys(invalid).length === 0 && !save.isPending) save.mutate()
  }
  if (save.data && save.data.failed.length > 0)
    return <Failures links={links} result={save.data} onClose={onClose} />
  return (
    <FormDialog
      onClose={onClose}
      title="Edit links"
      description={`The change is made to ${formatCount(links.length, 'link')}.`}
      action={`Change ${formatCount(links.length, 'link')}`}
      busy={save.isPending}
      disabled={isEmpty}
      error={save.error?.message}
      noValidate
      className="grid grid-cols-1 gap-5"
      onSubmit={submit}
    >
      <Choices draft={draft} errors={errors} onChange={change} />
    </FormDialog>
  )
}

interface PartProps {
  draft: BulkDraft
  errors: Record<string, string>
  onChange: (part: Partial<BulkDraft>) => void
}

const Choices = ({ draft, errors, onChange }: PartProps) => (
  <>
    <DestinationChoice draft={draft} errors={errors} onChange={onChange} />
    <UtmChoice draft={draft} errors={errors} onChange={onChange} />
    <ExpirationChoice draft={draft} errors={errors} onChange={onChange} />
    <DomainChoice draft={draft} onChange={onChange} />
    <Choice
      label="Archive"
      value={draft.archive}
      options={{ keep: 'Keep as it is', archive: 'Archive', unarchive: 'Unarchive' }}
      onChange={(archive) => onChange({ archive })}
    />
  </>
)

function DestinationChoice({ draft, errors, onChange }: PartProps) {
  return (
    <Choice
      label="Destination URL"
      value={draft.destination}
      options={{ keep: 'Keep as it is', replace: 'Find and replace', set: 'Set for all' }}
      onChange={(destination) => onChange({ destination })}
    >
      {draft.destination === 'set' && (
        <TextField
          label="New destination URL"
          inputMode="url"
          autoComplete="off"
          maxLength={8192}
          value={draft.url}
          error={errors.url}
          onChange={({ target }) => onChange({ url: target.value })}
        />
      )}
      {draft.destination === 'replace' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Find"
            {...CODE_INPUT}
            maxLength={8192}
            value={draft.find}
            error={errors.find}
            onChange={({ target }) => onChange({ find: target.value })}
          />
          <TextField
            label="Replace with"
            {...CODE_INPUT}
            maxLength={8192}
            value={draft.with}
            onChange={({ target }) => onChange({ with: target.value })}
          />
        </div>
      )}
    </Choice>
  )
}

function UtmChoice({ draft, errors, onChange }: PartProps) {
  return (
    <Choice
      label="UTM parameters"
      value={draft.utm}
      options={{ keep: 'Keep as they are', set: 'Set values', remove: 'Remove all' }}
      onChange={(utm) => onChange({ utm })}
    >
      {draft.utm === 'set' && (
        <UtmInputs
          toValue={({ name }) => draft.utmValues[name]}
          toError={({ name }) => (name === 'utm_source' ? errors.utm : undefined)}
          onChange={({ name }, value) => onChange({ utmValues: { ...draft.utmValues, [name]: value } })}
        >
          <p className="text-sm text-soft">Empty fields keep the value of each link.</p>
        </UtmInputs>
      )}
    </Choice>
  )
}

function ExpirationChoice({ draft, errors, onChange }: PartProps) {
  return (
    <Choice
      label="Expiration"
      value={draft.expiration}
      options={{ keep: 'Keep as it is', set: 'Set', remove: 'Remove' }}
      onChange={(expiration) => onChange({ expiration })}
    >
      {draft.expiration === 'set' && (
        <div className="grid gap-4">
          <DateTimeField
            label="Expires"
            value={draft.expiresAt}
            error={errors.expiresAt}
            onChange={(expiresAt) => onChange({ expiresAt })}
          />
          <TextField
            label="Expiration URL"
            inputMode="url"
            autoComplete="off"
            maxLength={8192}
            hint="Where visitors go then. Leave empty to keep the URL of each link."
            value={draft.expiredUrl}
            onChange={({ target }) => onChange({ expiredUrl: target.value })}
          />
        </div>
      )}
    </Choice>
  )
}

function DomainChoice({ draft, onChange }: Omit<PartProps, 'errors'>) {
  const { domains } = useLinkDomains()
  if (domains.length < 2) return null
  return (
    <Choice
      label="Domain"
      value={draft.domain}
      options={{ '': 'Keep as it is', ...Object.fromEntries(domains.map(({ name }) => [name, name])) }}
      onChange={(domain) => onChange({ domain })}
    >
      {draft.domain !== '' && (
        <p className="text-sm text-warn">
          The links move with their slugs. Their old short links stop working.
        </p>
      )}
    </Choice>
  )
}

interface ChoiceProps<T extends string> {
  label: string
  value: T
  options: Record<T, string>
  onChange: (value: T) => void
  /** The fields of the chosen option. */
  children?: ReactNode
}

const Choice = <T extends string>({ label, value, options, onChange, children }: ChoiceProps<T>) => (
  <div className="grid gap-3">
    <SelectField
      label={label}
      value={value}
      onChange={({ target }) => onChange(target.value as T)}
      options={Object.entries<string>(options)}
    />
    {children}
  </div>
)

const Failures = ({ links, result, onClose }: Props & { result: EditedLinksResource }) => (
  <Dialog
    onClose={onClose}
    title={`${formatCount(result.failed.length, 'link')} couldn’t change`}
    description={
      result.changed.length === 0 ? undefined : `${formatCount(result.changed.length, 'link')} changed.`
    }
    done="Close"
  >
    <ul className="divide-y divide-line">
      {result.failed.map(({ id, errors }) => {
        const link = links.find((each) => each.id === id)
        return (
          <li key={id} className="py-2">
            <p className="truncate font-medium">{link ? toLinkName(link) : id}</p>
            <p className="text-sm text-danger">{Object.values(errors).join('. ')}</p>
          </li>
        )
      })}
    </ul>
  </Dialog>
)
