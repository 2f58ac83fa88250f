from django.db import models
from django.urls import reverse

# Images, captions and regions come by the hundred thousand, in statements that name their corpus
# once and join their images, or in the transaction that stores their images too. Having PostgreSQL
# look both up again for each row would take longer than storing the row, so that foreign keys here
# are not checked a second time; nothing in the application deletes a corpus or an image. Unique
# constraints begin with the corpus, and serve as its index.


class Corpus(models.Model):
    """Images, captions and regions under their outside ids."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    licence = models.CharField(max_length=200, blank=True)
    owner = models.ForeignKey("hits.User", models.PROTECT, related_name="corpora")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "corpora"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Blob(models.Model):
    """The bytes of an image, known by their SHA-256; kept on disk or left in an S3 bucket."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    content_type = models.CharField(max_length=40)
    size = models.PositiveIntegerField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    bucket = models.CharField(max_length=100, blank=True)
    object_key = models.CharField(max_length=1000, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(bucket="", object_key="")
                | (~models.Q(bucket="") & ~models.Q(object_key="")),
                name="blob_bucket_with_key",
            ),
        ]

    def __str__(self) -> str:
        return self.sha256

    def get_absolute_url(self) -> str:
        return reverse("image", args=[self.sha256])


class Image(models.Model):
    corpus = models.ForeignKey(
        Corpus, models.CASCADE, related_name="images", db_constraint=False, db_index=False
    )
    external_id = models.CharField(max_length=200, db_collation="C")
    file_name = models.CharField(max_length=500, blank=True)
    split = models.CharField(max_length=40, blank=True)
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    blob = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="images", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="image_external_id"),
        ]
        indexes = [
            models.Index(
                fields=["blob"], condition=models.Q(blob__isnull=False), name="image_blob"
            ),
        ]

    def __str__(self) -> str:
        return self.external_id


class Caption(models.Model):
    corpus = models.ForeignKey(
        Corpus, models.CASCADE, related_name="captions", db_constraint=False, db_index=False
    )
    image = models.ForeignKey(Image, models.CASCADE, related_name="captions", db_constraint=False)
    external_id = models.CharField(max_length=200, db_collation="C")
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="caption_external_id"),
        ]

    def __str__(self) -> str:
        return self.text


class Region(models.Model):
    """A labelled box, in pixels from the image's top left corner, with the object's outline in it
    where that is known: polygons, each a list of x, y, x, y …"""

    corpus = models.ForeignKey(
        Corpus, models.CASCADE, related_name="regions", db_constraint=False, db_index=False
    )
    image = models.ForeignKey(Image, models.CASCADE, related_name="regions", db_constraint=False)
    external_id = models.CharField(max_length=200, db_collation="C")
    category = models.CharField(max_length=200)
    x = models.FloatField()
    y = models.FloatField()
    width = models.FloatField()
    height = models.FloatField()
    area = models.FloatField()
    outline = models.JSONField(default=list, db_default=[])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="region_external_id"),
            models.CheckConstraint(
                condition=models.Q(width__gt=0, height__gt=0, area__gte=0), name="region_has_size"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.category} {self.external_id}"
