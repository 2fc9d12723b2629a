// The labels of fields: those of the form, else the field's name in readable words.

import { useQuery } from '@tanstack/react-query'
import { formNamesQuery } from '../../../api/forms.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { toReadableName } from './readable-name.ts'

export const toFieldLabel = (labels: Record<string, string>, name: string): string =>
  Object.hasOwn(labels, name) ? (labels[name] ?? name) : toReadableName(name)

/** The form of a submission, with its labels and templates; undefined while the forms are loading. */
export function useFormOf({ formKey }: { formKey: string }) {
  const { data } = useQuery(formNamesQuery(useApi()))
  return data?.find((form) => form.formKey === formKey)
}
