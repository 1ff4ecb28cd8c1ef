// Stands in for readdir-glob and tar-stream, which archiver loads beside what Dossier calls of it: a zip of given entries.
const refuse = () => {
  throw new Error('An export is a zip of entries that store/archive/export-zip.ts gives');
};

module.exports = refuse;
