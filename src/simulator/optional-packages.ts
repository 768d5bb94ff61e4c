/** An optional package that the simulator needs is not installed. */
export class MissingPackageError extends Error {
  constructor(
    readonly packageName: string,
    options?: ErrorOptions,
  ) {
    super(
      `the simulator needs the optional package ${packageName}: install again with npm install --include=optional`,
      options,
    );
    this.name = 'MissingPackageError';
  }
}

/** A rejection handler that says which package is missing; other errors pass. */
export function missingPackage(packageName: string): (error: unknown) => never {
  return (error) => {
    const code = (error as { code?: unknown }).code;
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
      throw new MissingPackageError(packageName, { cause: error });
    }
    throw error;
  };
}
