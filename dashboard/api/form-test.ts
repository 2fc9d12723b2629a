// Tokens that make a submission a test. Apart from forms.ts, because the first page loads that file.

import type { Api } from './client.ts'

/** A submission with the token in this field is a test. */
export const TEST_FIELD = '_service_test'

export const createFormTest = (api: Api, formKey: string) =>
  api.post<{ token: string }>(`/forms/${encodeURIComponent(formKey)}/test`)
