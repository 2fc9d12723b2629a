// Where uploads are kept: in a bucket, or in the data directory.

import type { UploadBucket } from '../storage/files/bucket-client.ts'
import { isPrivateHost } from './private-host.ts'
